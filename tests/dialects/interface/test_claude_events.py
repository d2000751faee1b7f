"""The beginning and the end of a streamed message of Claude."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.dialects.interface.claude_events import ends, events_of, has_content
from tests.support.each import each
from tests.support.sayings import saying_of
from tests.support.sdk_accumulators import as_sdk
from tests.support.translations import CASES

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


@pytest.mark.parametrize("file", sorted((CASES / "messages" / "upstream").glob("*.json")))
def test_the_sdk_joins_the_events_of_a_whole_message_to_it(file: Path) -> None:
    body = file.read_bytes()
    joined = as_sdk("messages", events_of(json.loads(body)), stream=True)
    assert saying_of("messages", joined) == saying_of(
        "messages", as_sdk("messages", body, stream=False)
    )


def test_citations_and_blocks_of_other_kinds_are_carried() -> None:
    cited = {"type": "text", "text": "hi", "citations": [{"type": "char_location"}]}
    result = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    message = {"type": "message", "content": [cited, result, 7], "stop_reason": "end_turn"}
    (joined,) = as_sdk("messages", events_of(message), stream=True)
    assert [block["type"] for block in joined["content"]] == ["text", "web_search_tool_result"]
    assert joined["content"][0]["citations"][0]["type"] == "char_location"
    assert joined["stop_reason"] == "end_turn"


NESTED = json.loads("[" * 400 + "]" * 400)


@each(
    "answer",
    [None, [], {}, {"type": "error", "error": {}}, {"type": "message", "content": [], "x": NESTED}],
)
def test_another_text_is_no_message(answer: Any) -> None:
    assert events_of(answer) == b""
