"""Arguments that arrive value by value."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.translations.generate_content.part_fields import Fields
from engine.translations.generate_content.partial_arguments import PartialArguments
from engine.translations.neutral.events import BrokenAnswer
from tests.support.each import each


def arguments_of(*partials: dict[str, Any]) -> str:
    arguments = PartialArguments()
    for partial in partials:
        arguments.add(Fields(json.dumps(partial).encode()))
    return arguments.json()


@each(
    ("partials", "arguments"),
    [
        ([], "{}"),
        ([{"jsonPath": "$.a", "stringValue": "x"}], '{"a":"x"}'),
        ([{"json_path": "$.a", "string_value": "x"}], '{"a":"x"}'),
        (
            [
                {"jsonPath": "$.a", "stringValue": "New ", "willContinue": True},
                {"jsonPath": "$.a", "stringValue": "York"},
                {"jsonPath": "$.b", "numberValue": 1.0},
            ],
            '{"a":"New York","b":1.0}',
        ),
        ([{"jsonPath": "$.a", "boolValue": False}], '{"a":false}'),
        ([{"jsonPath": "$.a", "nullValue": "NULL_VALUE"}], '{"a":null}'),
        (
            [
                {"jsonPath": "$.a.b[0].c", "numberValue": 1},
                {"jsonPath": "$.a.b[1]", "stringValue": "z"},
                {"jsonPath": "$['d e']", "numberValue": 2},
            ],
            '{"a":{"b":[{"c":1},"z"]},"d e":2}',
        ),
    ],
)
def test_values_are_placed_by_their_paths(partials: list[dict[str, Any]], arguments: str) -> None:
    assert arguments_of(*partials) == arguments


@each(
    "path",
    [
        "",
        "a",
        "$",
        "$a",
        "$.",
        "$[0]",
        "$.list[2]",
        "$.text.x",
        "$.list.x",
        "$.a[x]",
        "$" + ".a" * 65,
    ],
)
def test_a_path_that_leads_nowhere_breaks_the_answer(path: str) -> None:
    with pytest.raises(BrokenAnswer, match="impossible path"):
        arguments_of(
            {"jsonPath": "$.text", "stringValue": "x"},
            {"jsonPath": "$.list[0]", "numberValue": 1},
            {"jsonPath": path, "numberValue": 1},
        )


def test_the_size_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.translations.neutral.calls.MAX_ARGUMENTS", 10)
    with pytest.raises(BrokenAnswer, match="over 10 characters"):
        arguments_of(*[{"jsonPath": "$.a", "stringValue": "xx"}] * 5)
