"""Patterns are written as the engine reads them, each change a warning."""

from __future__ import annotations

import copy
from typing import Any

from engine.source.problem import Findings
from engine.spec.document.schema_keywords import SOURCE_PATTERN
from engine.spec.load import repair
from tests.support.documents import document, library, repaired
from tests.support.each import each


@each(
    ("schema", "result", "codes"),
    [
        ({"pattern": "^a$"}, {"pattern": "^a$"}, []),
        ({"pattern": "(?i)^a"}, {"pattern": "(?i:^a)", SOURCE_PATTERN: "(?i)^a"}, ["MW252"]),
        ({"pattern": "\\Aa\\Z"}, {"pattern": "^a$", SOURCE_PATTERN: "\\Aa\\Z"}, ["MW252"]),
        ({"pattern": "/^a$/"}, {"pattern": "^a$", SOURCE_PATTERN: "/^a$/"}, ["MW252"]),
        ({"pattern": "/^a$/i"}, {"pattern": "(?i:^a$)", SOURCE_PATTERN: "/^a$/i"}, ["MW252"]),
        ({"pattern": "/a$/"}, {"pattern": "/a$/"}, []),
        ({"pattern": "(", "maxLength": 2}, {"maxLength": 2}, ["MW253"]),
        (
            {"pattern": "^.{1,9999}$"},
            {"pattern": "^.+$", SOURCE_PATTERN: "^.{1,9999}$", "maxLength": 9999},
            [],
        ),
        (
            {"pattern": "^.{1,9999}$", "maxLength": 5, "allOf": [{}]},
            {
                "pattern": "^.+$",
                SOURCE_PATTERN: "^.{1,9999}$",
                "maxLength": 5,
                "allOf": [{}, {"maxLength": 9999}],
            },
            [],
        ),
        (
            {"patternProperties": {"\\Aa": {"minimum": 1}, "(": {}}},
            {"patternProperties": {"^a": {"minimum": 1}}},
            ["MW252", "MW253"],
        ),
        (
            {"patternProperties": {"(": {}}, "additionalProperties": False},
            {"patternProperties": {}},
            ["MW253"],
        ),
        (
            {"patternProperties": {"^a$": {"minimum": 1}, "\\Aa\\Z": {"maximum": 5}}},
            {"patternProperties": {"^a$": {"allOf": [{"minimum": 1}, {"maximum": 5}]}}},
            ["MW252"],
        ),
        ({"maxLength": 5, "not": {"minLength": 2, "pattern": "("}}, {"maxLength": 5}, ["MW253"]),
        ({"not": {"pattern": "^(?>a)b"}}, {}, ["MW253"]),
        ({"pattern": 5}, {"pattern": 5}, []),
        ({"properties": {"pattern": {"type": "string"}}},) * 2 + ([],),
    ],
)
def test_a_pattern_is_written_as_it_is_read(schema: Any, result: Any, codes: list[str]) -> None:
    assert repaired(copy.deepcopy(schema)) == (result, codes)


def test_the_warning_of_a_format_of_dates_says_what_it_is() -> None:
    files = library(
        document(components={"schemas": {"Day": {"type": "string", "pattern": "yyyy-MM-dd"}}})
    )
    findings = Findings()
    repair(files, findings)
    assert ["a format of dates" in problem.message for problem in findings.problems] == [True]
