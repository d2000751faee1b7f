"""The blocks of streams of messages -> neutral blocks."""

from __future__ import annotations

from engine.translations.neutral.content import Reasoning, Signature, Text, ToolCall
from tests.support.each import each
from tests.translations.messages.streams import (
    CALL,
    END,
    LAST,
    START,
    STOP,
    TEXT,
    Json,
    arguments_of,
    begin,
    blocks_of,
    delta,
    read,
    text,
)


@each(
    ("documents", "block"),
    [
        ([TEXT, text("a"), {"type": "ping"}, text("b"), STOP], Text(text="ab")),
        ([begin({"type": "text", "text": "a"}), text("b"), STOP], Text(text="ab")),
        ([CALL, arguments_of(""), STOP], ToolCall(id="t1", name="f")),
        (
            [CALL, arguments_of('{"a'), arguments_of('":1.0}'), STOP],
            ToolCall(id="t1", name="f", arguments='{"a":1.0}'),
        ),
        (
            [
                begin({"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}),
                arguments_of('{"a":1}'),
                STOP,
            ],
            ToolCall(id="t1", name="f", arguments='{"a":1}'),
        ),
        (
            [begin({"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}), STOP],
            ToolCall(id="t1", name="f", arguments='{"a": 1}'),
        ),
        (
            [
                begin({"type": "thinking", "thinking": "", "signature": ""}),
                delta(type="thinking_delta", thinking="hm"),
                delta(type="signature_delta", signature="s"),
                STOP,
            ],
            Reasoning(text="hm", signature=Signature("messages", "s")),
        ),
        (
            [begin({"type": "redacted_thinking", "data": "d"}), STOP],
            Reasoning(signature=Signature("messages", "redacted:d")),
        ),
    ],
)
def test_blocks(documents: list[Json], block: object) -> None:
    assert blocks_of(*documents) == [block]


def test_an_empty_text_is_no_block() -> None:
    assert blocks_of(TEXT, text(""), STOP) == []


def test_a_citation_is_one_of_a_text_without_words() -> None:
    source = {"type": "web_search_result_location", "url": "https://a", "cited_text": "b"}
    (block,) = blocks_of(TEXT, delta(type="citations_delta", citation=source), STOP)
    assert isinstance(block, Text)
    assert [each.url for each in block.citations] == ["https://a"]


def test_an_answer_that_ends_with_a_call_says_so() -> None:
    assert read(START, CALL, STOP, END, LAST).candidates[0].finish.stop == "tool_calls"
    assert read(START, TEXT, STOP, END, LAST).candidates[0].finish.stop == "end"
