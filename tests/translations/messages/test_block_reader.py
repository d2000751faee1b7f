"""The blocks of streams of messages -> neutral blocks."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from anthropic.types.beta.beta_content_block import BetaContentBlock

from engine.translations.neutral.content import Foreign, Reasoning, Signature, Text, ToolCall
from engine.translations.neutral.events import BrokenAnswer
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


@each(
    ("block", "expected"),
    [
        ({"text": "a"}, Text(text="a")),
        ({"type": "output_text", "text": "a"}, Text(text="a")),
        ({"type": "", "thinking": "hm"}, Reasoning(text="hm")),
        ({"id": "t1", "name": "f", "input": {}}, ToolCall(id="t1", name="f")),
        ({"type": "function", "id": "t1", "name": "f", "input": {}}, ToolCall(id="t1", name="f")),
    ],
)
def test_a_block_is_what_its_members_say_if_its_type_does_not(block: Json, expected: Any) -> None:
    assert blocks_of(begin(block), STOP) == [expected]


@each("kind", [None, "", "delta"])
def test_a_delta_is_what_its_members_say_if_its_type_does_not(kind: str | None) -> None:
    assert blocks_of(TEXT, delta(type=kind, text="a"), STOP) == [Text(text="a")]
    call = ToolCall(id="t1", name="f", arguments="{}")
    assert blocks_of(CALL, delta(type=kind, partial_json="{}"), STOP) == [call]


def test_only_what_the_vendor_runs_itself_is_left_to_its_own_callers() -> None:
    call = {"id": "t1", "name": "f", "input": {}}
    for kind in ("server_tool_use", "mcp_tool_use", "hologram_tool_result"):
        block = {"type": kind, **(call if "use" in kind else {"x": 1})}
        assert blocks_of(begin(block), STOP) == [Foreign(kind=kind, omissible=True)]
    with pytest.raises(BrokenAnswer, match="content of the kind 'hologram'"):
        blocks_of(begin({"type": "hologram", "x": 1}), STOP)


def test_every_block_of_the_vendors_sdk_is_read_or_its_own() -> None:
    for shape in get_args(get_args(BetaContentBlock)[0]):
        (kind,) = get_args(shape.model_fields["type"].annotation)
        members = {"id": "t1", "name": "f", "input": {}, "text": "a", "thinking": "hm", "data": "d"}
        (block,) = blocks_of(begin({"type": kind, **members}), STOP)
        assert not isinstance(block, Foreign) or block.omissible, kind


@each(
    ("block", "more"),
    [
        ({"type": "server_tool_use", "id": "s1", "input": {}}, arguments_of('{"que')),
        ({"type": "compaction"}, delta(type="compaction_delta", content="So ")),
    ],
)
def test_deltas_of_what_the_vendor_runs_itself_say_nothing(block: Json, more: Json) -> None:
    assert blocks_of(begin(block), more, STOP) == [Foreign(kind=block["type"], omissible=True)]
