"""What a document says of objects: on which requests it depends, and whether a body is needed."""

from engine.dialects.gemini.proto_json import json_name
from engine.objects.facts import Condition
from engine.objects.facts_reader import read_facts
from tests.support.each import each

THREAD = {"at": "body#/thread", "kinds": ["message"]}


@each(
    ("when", "kinds"),
    [(None, ["message", "file"]), ("body#/store", []), (THREAD, ["file"])],
)
def test_the_objects_of_a_request_for_which_the_condition_does_not_hold(when, kinds):
    creates = {"message": "body#/id", "file": "body#/file"}
    mark = {"kind": "message", "form": "map", "at": "body#/metadata"}
    value = {"creates": creates, "marks": [mark]} | ({"when": when} if when else {})
    otherwise = read_facts(value)[0].otherwise
    assert [place.kind for place in otherwise.creates] == kinds
    assert bool(otherwise.marks) is (when is None)


@each(
    ("value", "holds"),
    [
        ({"thread": {"type": "create"}}, True),
        ({"thread": True}, True),
        ({"thread": {}}, True),
        ({"thread": False}, False),
        ({"thread": "yes"}, False),
        ({"thread": None}, False),
        ({}, False),
        ([], False),
    ],
)
def test_a_condition_holds_for_true_and_for_an_object(value, holds):
    assert Condition(("thread",)).holds(value) is holds


@each(
    ("facts", "expected"),
    [
        ({"names": {"file": "body#/id"}}, True),
        ({"marks": [{"kind": "file", "form": "map", "at": "body#/metadata"}]}, True),
        ({"names": {"file": "path.id"}, "creates": {"file": "body#/id"}}, False),
    ],
)
def test_a_body_is_needed_where_it_has_ids_or_a_mark(facts, expected):
    assert read_facts(facts)[0].needs_body is expected


@each(
    ("value", "holds"),
    [
        ({"tools": [{"x": {}}, {"fileSearch": {}}]}, True),
        ({"tools": [{"file_search": {"a": 1}}]}, True),
        ({"tools": {"fileSearch": {}}}, True),
        ({"tools": [{"x": {"fileSearch": {}}}]}, False),
        ({"tools": [{"fileSearch": False}]}, False),
        ({}, False),
        (None, False),
    ],
)
def test_a_condition_may_be_of_any_item(value, holds):
    facts, faults = read_facts({"when": "body#/tools/*/fileSearch"})
    assert faults == []
    assert facts.when.holds(value, json_name) is holds
