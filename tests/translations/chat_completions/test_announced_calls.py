"""The beginnings of calls."""

from __future__ import annotations

import pytest

from engine.translations.chat_completions.announced_calls import AnnouncedCalls, is_complete
from engine.translations.neutral.events import BrokenAnswer
from tests.support.each import each

Fragment = tuple[str, str]
"""A piece of a name and of the arguments."""


@each(
    ("fragments", "name", "arguments"),
    [
        ([("f", "{}")], "f", "{}"),
        ([("f", ""), ("", '{"a"')], "f", '{"a"'),
        ([("get_", ""), ("weather", ""), ("", "{}")], "get_weather", "{}"),
        ([("f", ""), ("f", ""), ("f", "{}")], "f", "{}"),  # it is repeated
        ([("", ""), ("f", "{}")], "f", "{}"),
        ([("", '{"a"'), ("", ":1}"), ("f", "")], "f", '{"a":1}'),
    ],
)
def test_a_call_begins_when_its_name_and_arguments_are_there(
    fragments: list[Fragment], name: str, arguments: str
) -> None:
    calls = AnnouncedCalls()
    begins = [calls.add(0, "c", *fragment) for fragment in fragments]
    assert begins == [False] * (len(fragments) - 1) + [True]
    [(number, call, first)] = calls.take()
    assert (number, call.id, call.name, call.arguments, first) == (0, "c", name, "", arguments)
    assert not calls


def test_calls_begin_in_their_order_up_to_one() -> None:
    calls = AnnouncedCalls()
    for number in range(3):
        calls.add(number, f"c{number}", "f", "")
    assert [number for number, _, _ in calls.take(1)] == [0, 1]
    assert [calls.has_begun(number, "") for number in range(3)] == [True, True, False]
    assert [number for number, _, _ in calls.take()] == [2]


def test_the_name_of_a_call_that_has_begun_is_not_changed() -> None:
    calls = AnnouncedCalls()
    calls.add(0, "c", "get_", "{")
    assert list(calls.take())
    assert calls.has_begun(0, "get_")
    with pytest.raises(BrokenAnswer, match="changes the name of a tool call"):
        calls.has_begun(0, "weather")


@each(
    ("arguments", "complete"),
    [("", False), ("{}", True), ('{"a":"}', False), ('{"a":{}} ', True), ("[{}]", False)],
)
def test_the_json_of_a_whole_object_is_complete(arguments: str, complete: bool) -> None:
    assert is_complete(arguments) == complete
