"""Events one by one, and their number."""

from __future__ import annotations

import pytest

from engine.values.events import LONG_EVENT, count_events, split_events

A, B = b'data: {"a":1}\n\n', b"event: x\ndata: {\ndata: }\n\n"


@pytest.mark.parametrize(
    ("data", "events"),
    [(b"", []), (A, [A]), (A + B + A, [A, B, A]), (A + b"data: {", [A, b"data: {"])],
    ids=["none", "one", "several", "cut off"],
)
def test_events_one_by_one(data: bytes, events: list[bytes]) -> None:
    assert list(split_events(data)) == events
    assert count_events(data) == sum(event.endswith(b"\n\n") for event in events)


def test_a_long_event_is_counted_and_not_copied() -> None:
    long = b"data: " + b"x" * LONG_EVENT + b"\n\n"
    (event,) = split_events(long)
    assert event is long
    assert count_events(A + long + A + b"data: ") == 3
