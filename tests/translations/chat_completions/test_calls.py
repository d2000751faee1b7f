"""The calls of a choice, in fragments."""

from __future__ import annotations

import time

import pytest

from engine.translations.chat_completions.calls import AnnouncedCalls, CallNumbers, is_complete
from engine.translations.neutral.events import BrokenAnswer
from tests.support.each import each

Fragment = tuple[str, str]
"""A piece of a name and of the arguments."""


@each(
    ("fragments", "name", "arguments"),
    [
        ([("f", "{")], "f", "{"),
        ([("f", ""), ("", '{"a"')], "f", '{"a"'),
        ([("f", "{}"), ("", '{"a"')], "f", '{"a"'),  # a placeholder
        ([("get_", ""), ("weather", ""), ("", "{")], "get_weather", "{"),
        ([("f", ""), ("f", ""), ("f", "{")], "f", "{"),  # it is repeated
        ([("", ""), ("f", "{")], "f", "{"),
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
    assert not calls.waiting


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
    pieces = [arguments[:2], arguments[2:]]
    assert (is_complete(pieces), "".join(pieces)) == (complete, arguments)


Numbered = tuple[int | None, str, str]
"""Its index, id and name."""


@each(
    ("fragments", "numbers"),
    [
        ([(0, "a", "f"), (0, "", ""), (1, "b", "g"), (1, "", ""), (0, "", "")], [0, 0, 1, 1, 0]),
        ([(5, "a", "f"), (9, "b", "g"), (5, "", "")], [0, 1, 0]),  # indexes of items
        ([(0, "a", "f"), (0, "b", "g"), (0, "", "")], [0, 1, 1]),  # one index for all
        ([(0, "a", "f"), (0, "a", "f")], [0, 0]),  # id and name in each fragment
        ([(0, "", "f"), (0, "", "")], [0, 0]),
        ([(None, "", "f"), (None, "", ""), (None, "", "g"), (None, "", "")], [0, 0, 1, 1]),
        ([(None, "a", "f"), (None, "a", ""), (None, "b", "f")], [0, 0, 1]),
        ([(0, "a", "f"), (1, "a", "g")], [0, 1]),  # one id for all
    ],
)
def test_numbers(fragments: list[Numbered], numbers: list[int]) -> None:
    calls = CallNumbers()
    assert [calls.number(*fragment, lambda: False) for fragment in fragments] == numbers
    assert calls.count == max(numbers) + 1


def test_a_fragment_without_id_and_name_goes_on_with_the_call_that_is_not_complete() -> None:
    partial = [True, True, False]
    calls = CallNumbers()
    fragments = [(0, "a", "f"), (1, "", ""), (2, "", ""), (3, "", "")]
    numbers = [calls.number(*fragment, lambda: partial.pop(0)) for fragment in fragments]
    assert numbers == [0, 0, 0, 1]


def test_arguments_of_very_many_fragments_take_little_time() -> None:
    calls, begin = AnnouncedCalls(), time.thread_time()
    for fragment in ('"{', *["x" * 100] * 39_000):  # a text, whose end alone shows what it is
        calls.add(0, "c", "f", fragment)
    ((_, _, arguments),) = calls.take()
    assert len(arguments) == 3_900_002
    assert time.thread_time() - begin < 5  # 0.02 s; 18 s with a new text for each


def test_the_last_call_lacks_arguments_behind_its_name() -> None:
    calls = AnnouncedCalls()
    lacking = []
    for number, name, arguments in [(0, "", ""), (0, "f", ""), (1, "", ""), (1, "g", "null")]:
        calls.add(number, "c", name, arguments)
        lacking.append(calls.lacks_arguments)
    assert lacking == [False, True, False, True]


def test_pieces_are_joined_only_where_they_may_be_all() -> None:
    pieces = ['{"a": "', "{", "b"]
    assert not is_complete(pieces)
    assert pieces == ['{"a": "', "{", "b"]
    for end, expected in (("}", False), ('"}', True), ("\n", True)):
        pieces.append(end)
        assert is_complete(pieces) is expected
