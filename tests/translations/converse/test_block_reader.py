"""The blocks of an answer, in a stream and in one piece."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from engine.translations.converse.answer_shapes import (
    Block,
    CitationsContent,
    Reasoning,
    ToolUse,
    Words,
)
from engine.translations.converse.block_reader import BlockReader, refuse_unknown
from engine.translations.neutral import content
from engine.translations.neutral.content import Text, ToolCall
from engine.translations.neutral.events import BrokenAnswer, Close, Delta, Event, Open, Sign
from engine.translations.neutral.members import WrongType

CALL = ToolUse(tool_use_id="t", name="f")


def piece(text: str) -> ToolUse:
    """More of the arguments of a call."""
    return ToolUse(input=Raw(json.dumps(text).encode()))


def streamed(start: Block | None, *deltas: Block) -> list[Event]:
    reader = BlockReader()
    events = [] if start is None else [*reader.start(start)]
    for delta in deltas:
        events += reader.delta(delta)
    return [*events, *reader.end()]


def test_an_empty_text_is_no_block() -> None:
    assert streamed(None, Block(text="")) == []
    assert [*BlockReader().whole(Block(text=""))] == []


def test_a_text_begins_with_its_first_delta() -> None:
    events = streamed(None, Block(text=""), Block(text="a"), Block(text="b"))
    assert events == [Open(Text()), Delta("a"), Delta("b"), Close()]


def test_the_arguments_of_a_call() -> None:
    deltas = [Block(tool_use=piece(text)) for text in ("", '{"a"', ":1}")]
    opened = Open(ToolCall(id="t", name="f"))
    assert streamed(Block(tool_use=CALL), *deltas) == [
        opened,
        Delta('{"a"'),
        Delta(":1}"),
        Close(),
    ]
    block = Block(tool_use=ToolUse(tool_use_id="t", name="f", input=Raw(b'{"a":1.50}')))
    assert [*BlockReader().whole(block)] == [opened, Delta('{"a":1.50}'), Close()]


@pytest.mark.parametrize("kind", [None, "", "tool_use", "something_new"])
def test_a_call_is_one_whatever_its_type_says(kind: str | None) -> None:
    call = ToolUse(tool_use_id="t", name="f", type=kind, input=Raw(b'{"a":1}'))
    opened = [Open(ToolCall(id="t", name="f")), Delta('{"a":1}'), Close()]
    assert [*BlockReader().whole(Block(tool_use=call))] == opened
    start = Block(tool_use=ToolUse(tool_use_id="t", name="f", type=kind))
    assert streamed(start, Block(tool_use=piece('{"a":1}'))) == opened


def test_a_call_of_a_tool_that_the_vendor_runs_is_passed_over() -> None:
    call = ToolUse(tool_use_id="t", name="f", type="server_tool_use", input=Raw(b'{"a":1}'))
    assert [*BlockReader().whole(Block(tool_use=call))] == []
    start = Block(tool_use=ToolUse(tool_use_id="t", name="f", type="server_tool_use"))
    assert streamed(start, Block(tool_use=piece('{"a":1}'))) == []


def test_arguments_without_a_call_are_not_lost_silently() -> None:
    with pytest.raises(BrokenAnswer, match="arguments outside of a tool call"):
        streamed(None, Block(tool_use=piece('{"a":1}')))


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        ({"video": {"format": "mp4"}}, "video"),
        ({"type": "hologram", "hologram": {"x": 1}}, "hologram"),
        ({"tool_use": {"name": "f"}}, "tool_use"),
    ],
)
def test_content_of_an_unknown_kind_is_refused_by_its_name(block: Any, kind: str) -> None:
    with pytest.raises(BrokenAnswer, match=f"content of the kind '{kind}'"):
        refuse_unknown(Raw(json.dumps(block).encode()))


def test_a_result_of_the_vendors_own_and_what_is_empty_are_passed_over() -> None:
    refuse_unknown(Raw(b'{"toolResult":{"content":[{"text":"a"}]},"type":"x"}'))
    refuse_unknown(Raw(b'{"video":{"source":{"bytes":""}},"audio":null}'))
    refuse_unknown(Raw(b"null"))


def test_a_call_without_a_name_is_refused() -> None:
    with pytest.raises(WrongType, match="toolUse"):
        [*BlockReader().whole(Block(tool_use=ToolUse(tool_use_id="t")))]


def test_thoughts_are_signed_at_their_end() -> None:
    deltas = [Reasoning(text="hm"), Reasoning(signature="s")]
    events = streamed(None, *(Block(reasoning_content=each) for each in deltas))
    signature = content.Signature("converse", "s")
    assert events == [Open(content.Reasoning()), Delta("hm"), Sign(signature), Close()]


def test_a_cited_text_without_a_source_in_the_web_is_a_text() -> None:
    cited = CitationsContent(content=[Words("a"), Words("b")])
    events = [*BlockReader().whole(Block(citations_content=cited))]
    assert events == [Open(Text()), Delta("ab"), Close()]


def test_a_block_of_two_kinds_is_broken() -> None:
    with pytest.raises(BrokenAnswer, match="two kinds"):
        streamed(None, Block(text="a"), Block(reasoning_content=Reasoning(text="b")))


def test_a_block_that_begins_twice_is_broken() -> None:
    reader = BlockReader()
    [*reader.start(None)]
    with pytest.raises(BrokenAnswer, match="out of order"):
        [*reader.start(None)]
