"""Breaches of a schema have words and a place."""

import json
import re

import pytest

from engine.config import json_schema
from engine.config.schema_breaches import note_breaches
from engine.source.problem import Findings
from engine.source.reader import read


def findings(text, against):
    collected = Findings()
    marked = read(text, "f")
    note_breaches(marked.value, against, marked, (), collected)
    return collected.problems


def problems(value, against):
    return [(p.code, p.message) for p in findings(json.dumps(value), against)]


@pytest.mark.parametrize(
    ("value", "against", "expected"),
    [
        (1, {"type": "string"}, ("MW103", "this must be a string, not a whole number")),
        (True, {"type": "integer"}, ("MW103", "this must be a whole number, not true")),
        (None, {"type": "array"}, ("MW103", "this must be a list, not nothing")),
        (
            [],
            {"type": ["object", "null"]},
            ("MW103", "this must be nothing or a mapping, not a list"),
        ),
        ("", {"minLength": 1}, ("MW104", "this is empty")),
        ([], {"minItems": 1}, ("MW104", "this needs at least 1 entry")),
        ({}, {"minProperties": 1}, ("MW104", "this needs at least 1 key")),
        (
            {"a": 1, "b": 2},
            {"maxProperties": 1},
            ("MW104", "this takes only one key; this is the second"),
        ),
        (0, {"minimum": 1}, ("MW104", "this must be 1 or more")),
        (9, {"maximum": 8}, ("MW104", "this must be 8 or less")),
        (0, {"exclusiveMinimum": 0}, ("MW104", "this must be more than 0")),
        ("x", {"const": "y"}, ("MW104", "this must be 'y'")),
        ("x", {"enum": ["y", "z"]}, ("MW104", "this must be one of y, z")),
    ],
)
def test_every_breach_has_its_words(value, against, expected):
    code, message = problems(value, against)[0]
    if "nothing or" in expected[1]:
        assert {"nothing", "a mapping"} == set(re.findall("nothing|a mapping", message))
    else:
        assert (code, message) == expected


def test_a_breach_is_told_for_the_branch_that_fits_the_value():
    against = {"anyOf": [{"type": "array", "minItems": 1}, {"type": "string", "minLength": 1}]}
    assert problems([], against) == [("MW104", "this needs at least 1 entry")]
    assert problems("", against) == [("MW104", "this is empty")]
    assert problems(7, against)[0][0] == "MW103"


def test_all_errors_are_reported_at_once():
    text = json.dumps({"version": 2, "server": {"workers": 0, "x": 1}, "y": 2})
    assert len(findings(text, json_schema.schema())) == 6


def test_a_breach_inside_a_part_of_the_file_has_its_place_in_the_file():
    collected = Findings()
    marked = read("a:\n  b: [1]\n", "f")
    note_breaches([1], {"items": {"type": "string"}}, marked, ("a", "b"), collected)
    assert [(p.line, p.column) for p in collected.problems] == [(2, 7)]


def test_all_breaches_of_the_branch_that_fits_the_value_are_told():
    branch = {
        "type": "object",
        "additionalProperties": False,
        "required": ["from"],
        "properties": {"from": {"type": "string"}},
    }
    against = {"anyOf": [{"type": "string", "pattern": "^a"}, branch]}
    assert problems({"frm": "x", "zebra": 1}, against) == [
        ("MW101", "unknown key 'frm'"),
        ("MW101", "unknown key 'zebra'"),
    ]
    assert problems({"zebra": 1}, against) == [
        ("MW102", "'from' is missing"),
        ("MW101", "unknown key 'zebra'"),
    ]


def test_a_pattern_does_not_match_before_a_final_line_end():
    against = {"type": "string", "pattern": "^[0-9]+$"}
    assert problems("5", against) == []
    assert problems("5\n", against) == [("MW104", "this is not of the right form")]
