"""Answers and streams of Converse."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from engine.relay.amazon_events import AmazonEvents
from engine.translations.converse.answer_fields import (
    BlockShape,
    CitationsContent,
    Reasoning,
    ToolUse,
)
from engine.translations.converse.answer_reader import (
    BlockReader,
    Reader,
    read_answer,
    refuse_unknown,
)
from engine.translations.neutral import content
from engine.translations.neutral.answer import collect
from engine.translations.neutral.answer_json import TextPiece
from engine.translations.neutral.content import Text, ToolCall
from engine.translations.neutral.events import BrokenAnswer, Close, Delta, Event, Open, Sign
from engine.translations.neutral.json_members import WrongType
from tests.support import bedrock
from tests.support.amazon_events import event
from tests.support.each import each
from tests.support.translations import CASES, event_data

FOLDER = CASES / "converse"
ANSWER_FILES = sorted([*FOLDER.glob("answers/*.json"), *FOLDER.glob("upstream/*.json")])
STREAMS = sorted(file for file in [*FOLDER.glob("*/*.sse")] if file.stem != "broken")


def read(*events: Any) -> list[Event]:
    reader = Reader()
    read = [each for o in events for each in reader.read(json.dumps(o).encode())]
    return [*read, *reader.end()]


def without_padding(value: Any) -> Any:
    """A payload without what the vendor's model does not have."""
    if isinstance(value, dict):
        unknown = ("p", "serverToolUsage")
        return {k: without_padding(v) for k, v in value.items() if k not in unknown}
    return [without_padding(each) for each in value] if isinstance(value, list) else value


def with_bytes(value: Any) -> Any:
    """A value as JSON, bytes as base64."""
    return json.loads(json.dumps(value, default=_base64))


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


@pytest.mark.parametrize("file", ANSWER_FILES, ids=lambda file: file.stem)
def test_the_vendors_sdk_reads_the_same_answers(file: Path) -> None:
    document = json.loads(file.read_bytes())
    parsed = bedrock.parsed(file.read_bytes())
    del parsed["ResponseMetadata"]
    assert with_bytes(parsed) == without_padding(document)


@pytest.mark.parametrize("file", STREAMS, ids=lambda file: file.stem)
def test_the_vendors_sdk_reads_the_same_streams_out_of_frames(file: Path) -> None:
    events = [json.loads(data) for data in event_data(file.read_bytes())]
    frames = b"".join(event(name, o) for each in events for name, o in each.items())
    assert with_bytes(bedrock.parsed_stream(frames)) == without_padding(events)
    assert event_data(AmazonEvents().feed(frames)) == event_data(file.read_bytes())


@pytest.mark.parametrize("file", sorted(FOLDER.glob("upstream/*.json")), ids=lambda o: o.stem)
def test_a_stream_says_what_the_answer_says(file: Path) -> None:
    stream = file.with_suffix(".sse").read_bytes()
    events = [json.loads(data) for data in event_data(stream)]
    assert collect(read(*events)) == collect(read_answer(file.read_bytes()))


START: Any = {"messageStart": {"role": "assistant"}}
STOP: Any = {"messageStop": {"stopReason": "end_turn"}}
USAGE: Any = {"metadata": {"usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}}}
TEXT: Any = {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "a"}}}
CLOSE: Any = {"contentBlockStop": {"contentBlockIndex": 0}}

BROKEN = {
    "nothing": [],
    "no stop": [START, TEXT, CLOSE],
    "no start and no block": [STOP, USAGE],
    "a block behind the end": [START, STOP, TEXT, CLOSE],
    "another block's delta": [START, TEXT, {"contentBlockDelta": {"contentBlockIndex": 1}}],
    "another block's end": [START, TEXT, {"contentBlockStop": {"contentBlockIndex": 1}}],
    "malformed": [START, {"messageStop": {"stopReason": "malformed_tool_use"}}],
}


@pytest.mark.parametrize("events", BROKEN.values(), ids=BROKEN)
def test_a_stream_out_of_order_is_broken(events: list[Any]) -> None:
    with pytest.raises(BrokenAnswer):
        read(*events)


@each(
    "event",
    [
        {"messageStop": {}},
        {"contentBlockDelta": {"contentBlockIndex": [{}]}},
        [],
        {"messageStop": 1},
    ],
)
def test_an_event_of_another_type_is_named(event: Any) -> None:
    with pytest.raises(WrongType):
        read(START, event)


@pytest.mark.parametrize("order", [[START, STOP, USAGE], [START, USAGE, STOP]])
def test_the_usage_may_precede_the_end(order: list[Any]) -> None:
    answer = collect(read(*order))
    assert answer.candidates[0].finish.native == "end_turn"


def test_events_of_unknown_kinds_and_behind_the_end_say_nothing() -> None:
    events = [START, {"somethingNew": {}}, TEXT, CLOSE, STOP, USAGE]
    assert collect(read(*events, TEXT)) == collect(read(START, TEXT, CLOSE, STOP, USAGE))


@each("body", [b"{}", b'{"output":{}}', b'{"output":{"message":{}}}', b"[]", b"x"])
def test_an_answer_without_its_members_is_refused(body: bytes) -> None:
    with pytest.raises(WrongType):
        collect(read_answer(body))


HOLOGRAM: Any = {"hologram": {"x": 1}}


@each(
    "events",
    [
        [{"contentBlockStart": {"contentBlockIndex": 0, "start": HOLOGRAM}}],
        [{"contentBlockDelta": {"contentBlockIndex": 0, "delta": HOLOGRAM}}],
    ],
)
def test_a_block_of_an_unknown_kind_in_a_stream_is_refused(events: list[Any]) -> None:
    with pytest.raises(BrokenAnswer, match="content of the kind 'hologram'"):
        read(START, *events, CLOSE, STOP)


def test_a_block_of_an_unknown_kind_is_refused() -> None:
    answer = {"output": {"message": {"content": [{"text": "a"}, HOLOGRAM]}}}
    with pytest.raises(BrokenAnswer, match="content of the kind 'hologram'"):
        collect(read_answer(json.dumps({**answer, "stopReason": "end_turn"}).encode()))


def test_blocks_and_deltas_that_say_nothing_are_passed_over() -> None:
    starts = [{"contentBlockStart": {"contentBlockIndex": 0, "start": {}}}]
    deltas = [{"contentBlockDelta": {"contentBlockIndex": 0, "delta": {}}}, TEXT]
    assert collect(read(START, *starts, *deltas, CLOSE, STOP)) == collect(
        read(START, TEXT, CLOSE, STOP)
    )


CALL = ToolUse(tool_use_id="t", name="f")


def piece(text: str) -> ToolUse:
    """More of the arguments of a call."""
    return ToolUse(input=Raw(json.dumps(text).encode()))


def streamed(start: BlockShape | None, *deltas: BlockShape) -> list[Event]:
    reader = BlockReader()
    events = [] if start is None else [*reader.start(start)]
    for delta in deltas:
        events += reader.delta(delta)
    return [*events, *reader.end()]


def test_an_empty_text_is_no_block() -> None:
    assert streamed(None, BlockShape(text="")) == []
    assert [*BlockReader().whole(BlockShape(text=""))] == []


def test_a_text_begins_with_its_first_delta() -> None:
    events = streamed(None, BlockShape(text=""), BlockShape(text="a"), BlockShape(text="b"))
    assert events == [Open(Text()), Delta("a"), Delta("b"), Close()]


def test_the_arguments_of_a_call() -> None:
    deltas = [BlockShape(tool_use=piece(text)) for text in ("", '{"a"', ":1}")]
    opened = Open(ToolCall(id="t", name="f"))
    assert streamed(BlockShape(tool_use=CALL), *deltas) == [
        opened,
        Delta('{"a"'),
        Delta(":1}"),
        Close(),
    ]
    block = BlockShape(tool_use=ToolUse(tool_use_id="t", name="f", input=Raw(b'{"a":1.50}')))
    assert [*BlockReader().whole(block)] == [opened, Delta('{"a":1.50}'), Close()]


@pytest.mark.parametrize("kind", [None, "", "tool_use", "something_new"])
def test_a_call_is_one_whatever_its_type_says(kind: str | None) -> None:
    call = ToolUse(tool_use_id="t", name="f", type=kind, input=Raw(b'{"a":1}'))
    opened = [Open(ToolCall(id="t", name="f")), Delta('{"a":1}'), Close()]
    assert [*BlockReader().whole(BlockShape(tool_use=call))] == opened
    start = BlockShape(tool_use=ToolUse(tool_use_id="t", name="f", type=kind))
    assert streamed(start, BlockShape(tool_use=piece('{"a":1}'))) == opened


def test_a_call_of_a_tool_that_the_vendor_runs_is_passed_over() -> None:
    call = ToolUse(tool_use_id="t", name="f", type="server_tool_use", input=Raw(b'{"a":1}'))
    assert [*BlockReader().whole(BlockShape(tool_use=call))] == []
    start = BlockShape(tool_use=ToolUse(tool_use_id="t", name="f", type="server_tool_use"))
    assert streamed(start, BlockShape(tool_use=piece('{"a":1}'))) == []


def test_arguments_without_a_call_are_not_lost_silently() -> None:
    with pytest.raises(BrokenAnswer, match="arguments outside of a tool call"):
        streamed(None, BlockShape(tool_use=piece('{"a":1}')))


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
        [*BlockReader().whole(BlockShape(tool_use=ToolUse(tool_use_id="t")))]


def test_thoughts_are_signed_at_their_end() -> None:
    deltas = [Reasoning(text="hm"), Reasoning(signature="s")]
    events = streamed(None, *(BlockShape(reasoning_content=each) for each in deltas))
    signature = content.Signature("converse", "s")
    assert events == [Open(content.Reasoning()), Delta("hm"), Sign(signature), Close()]


def test_a_cited_text_without_a_source_in_the_web_is_a_text() -> None:
    cited = CitationsContent(content=[TextPiece("a"), TextPiece("b")])
    events = [*BlockReader().whole(BlockShape(citations_content=cited))]
    assert events == [Open(Text()), Delta("ab"), Close()]


def test_a_block_of_two_kinds_is_broken() -> None:
    with pytest.raises(BrokenAnswer, match="two kinds"):
        streamed(None, BlockShape(text="a"), BlockShape(reasoning_content=Reasoning(text="b")))


def test_a_block_that_begins_twice_is_broken() -> None:
    reader = BlockReader()
    [*reader.start(None)]
    with pytest.raises(BrokenAnswer, match="out of order"):
        [*reader.start(None)]
