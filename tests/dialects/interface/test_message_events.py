"""The beginning and the end of a streamed message of Claude."""

from __future__ import annotations

from typing import Any

from engine.dialects.interface.message_events import ends, has_content
from tests.support.each import each

STOP = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
DELTA = {"type": "content_block_delta", "delta": {"text": "hi"}}


@each(
    ("document", "expected"),
    [
        ({"type": "message_start"}, False),
        ({"type": "content_block_start"}, False),
        ({"type": "ping"}, False),
        (DELTA, True),
        ({"type": 7}, True),
        ({}, True),
        (None, True),
    ],
)
def test_the_events_that_begin_a_message_have_no_content(document: Any, expected: bool) -> None:
    assert has_content(document) is expected


@each(
    ("documents", "expected"),
    [
        ([DELTA], False),
        ([DELTA, {"type": "message_delta", "delta": {"stop_reason": None}}], False),
        ([DELTA, STOP], True),
        ([{"type": "message_stop"}], True),
        ([{"type": "ping"}], None),
        ([{"type": "ping"}, DELTA], False),
        ([None, "[DONE]"], None),
        ([], None),
    ],
)
def test_a_message_ends_with_its_stop_reason(documents: list[Any], expected: bool | None) -> None:
    assert ends(documents) is expected
