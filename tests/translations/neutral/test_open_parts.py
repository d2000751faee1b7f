"""Parts that are open at once come one after another."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from engine.translations.neutral import open_parts
from engine.translations.neutral.events import BrokenAnswer, Close, Delta, Event
from engine.translations.neutral.open_parts import OpenParts, Part
from tests.support.each import each


class Word(Part):
    """A part whose events are given."""

    def end(self) -> Iterable[Event]:
        return (Close(),)


def read(*steps: tuple[int | None, str]) -> str:
    """The texts of the events in their order, `.` for the end of a part."""
    parts = OpenParts(Word)
    events: list[Event] = []
    for index, text in steps:
        part = parts.at(index)
        part.is_done = text == "."
        event = Close() if part.is_done else Delta(text)
        events += parts.in_order(part, [event])
    events += parts.end()
    return "".join(event.text if isinstance(event, Delta) else "." for event in events)


@each(
    ("steps", "said"),
    [
        ([(0, "a"), (0, "b"), (0, "."), (1, "c"), (1, ".")], "ab.c."),
        ([(0, "a"), (1, "c"), (0, "b"), (1, "d"), (1, "."), (0, ".")], "ab.cd."),
        ([(0, "a"), (1, "c"), (2, "e"), (2, "."), (0, "."), (1, "d")], "a.cd.e."),
        ([(2, "e"), (0, "a"), (2, "."), (0, ".")], "e.a."),
        ([(0, "a"), (1, "b")], "a.b."),  # the end of the answer is that of its parts
        ([(0, "a"), (0, "."), (0, "b"), (0, ".")], "a.b."),  # one index for all
        ([(None, "a"), (None, "b"), (None, ".")], "ab."),
        ([], ""),
    ],
)
def test_parts_come_in_their_order(steps: list[tuple[int | None, str]], said: str) -> None:
    assert read(*steps) == said


def test_an_event_goes_on_as_soon_as_its_part_is_the_first() -> None:
    parts = OpenParts(Word)
    first, second = parts.at(0), parts.at(1)
    assert list(parts.in_order(second, [Delta("b")])) == []
    first.is_done = True
    assert list(parts.in_order(first, [Delta("a")])) == [Delta("a"), Delta("b")]
    assert (parts.current, parts.index, 0 in parts, 1 in parts) == (second, 1, False, True)


def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.translations.neutral.calls.MAX_ARGUMENTS", 500)
    with pytest.raises(BrokenAnswer, match="over 500 characters that must be buffered"):
        read((0, "a"), *[(1, "b" * 50)] * 9)


def test_parts_that_are_open_at_once_are_bounded() -> None:
    parts = OpenParts(Word)
    for index in range(open_parts.MAX_PARTS):
        parts.at(index)
    assert parts.at(open_parts.MAX_PARTS - 1) is not None
    with pytest.raises(BrokenAnswer, match="over 1000 parts at once"):
        parts.at(open_parts.MAX_PARTS)
