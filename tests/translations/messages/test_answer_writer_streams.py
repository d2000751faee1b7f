"""Neutral events -> streams of messages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.translations.messages.answer_writer import Writer, write_answer
from engine.translations.neutral.answer import Answer, Candidate
from engine.translations.neutral.content import (
    Block,
    Citation,
    Foreign,
    Inline,
    Media,
    Reasoning,
    Refusal,
    Signature,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import (
    BrokenAnswer,
    Close,
    Delta,
    End,
    Event,
    Finish,
    Open,
    Sign,
    Start,
)
from engine.translations.neutral.request import ChatRequest, Thinking
from engine.values.usage import Usage
from tests.support.each import each
from tests.support.thorough import examples
from tests.support.translations import event_data
from tests.translations.messages.documents import events_of, message_of, validator

REQUEST = ChatRequest(
    language="messages",
    model="alias",
    messages=[],
    id="req-1",
    thinking=Thinking(adaptive=True),
)
END = End(finishes={0: Finish(stop="end")})


def write(*events: Event) -> bytes:
    writer = Writer(REQUEST)
    return b"".join(writer.write(event) for event in (Start(id="1"), *events, END))


def types_of(stream: bytes) -> list[str]:
    return [json.loads(data)["type"] for data in event_data(stream)]


def test_a_stream_byte_by_byte() -> None:
    writer = Writer(REQUEST)
    usage = Usage(input=20, output=1, reasoning=1, cached=7)
    events = [
        Start(id="1", model="m", usage=usage),
        Open(Text()),
        Delta("Hé"),
        Close(),
        End(finishes={0: Finish(stop="length")}, usage=Usage(input=20, output=9, cached=7)),
    ]
    assert b"".join(map(writer.write, events)).decode().split("\n\n") == [
        'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":'
        '"message","role":"assistant","model":"alias","content":[],"stop_reason":null,'
        '"stop_sequence":null,"usage":{"input_tokens":13,"cache_creation_input_tokens":0,'
        '"cache_read_input_tokens":7,"output_tokens":0}}}',
        'event: content_block_start\ndata: {"type":"content_block_start","index":0,'
        '"content_block":{"type":"text","text":""}}',
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
        '"delta":{"type":"text_delta","text":"Hé"}}',
        'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}',
        'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":'
        '"max_tokens","stop_sequence":null},"usage":{"input_tokens":13,'
        '"cache_creation_input_tokens":0,"cache_read_input_tokens":7,"output_tokens":9}}',
        'event: message_stop\ndata: {"type":"message_stop"}',
        "",
    ]


def test_empty_texts_before_a_call_are_not_written() -> None:
    call = [Open(ToolCall(id="c", name="f")), Delta('{"a":1}'), Close()]
    stream = write(Open(Reasoning()), Close(), Open(Text()), Delta(""), Close(), *call)
    assert types_of(stream) == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert b'"index":0,"content_block":{"type":"tool_use"' in stream


def test_a_call_without_arguments_has_no_delta() -> None:
    stream = write(Open(ToolCall(id="c", name="f")), Close())
    assert types_of(stream)[1:3] == ["content_block_start", "content_block_stop"]
    assert message_of(event_data(stream))["content"][0]["input"] == {}


def test_arguments_of_the_last_call_may_be_cut_at_the_limit_of_tokens() -> None:
    writer = Writer(REQUEST)
    events: list[Event] = [Start(), Open(ToolCall(id="c", name="f")), Delta('{"a":'), Close()]
    stream = b"".join(map(writer.write, events))
    stream += writer.write(End(finishes={0: Finish(stop="length")}))
    assert b'"stop_reason":"max_tokens"' in stream


def test_a_signature_of_another_vendor_is_sealed() -> None:
    stream = write(Open(Reasoning()), Sign(Signature("gemini", "g")), Close())
    (block,) = message_of(event_data(stream))["content"]
    assert block == {"type": "thinking", "thinking": "", "signature": "modelway:gemini:g"}


def test_a_signature_follows_the_thoughts() -> None:
    stream = write(Open(Reasoning()), Sign(Signature("messages", "s")), Delta("hm"), Close())
    deltas = [json.loads(data)["delta"]["type"] for data in event_data(stream)[2:4]]
    assert deltas == ["thinking_delta", "signature_delta"]


def test_blocks_of_other_vendors_take_no_index() -> None:
    foreign = Foreign(kind="k")
    stream = write(Open(foreign), Close(), Open(Text()), Delta("x"), Close())
    assert b'"index":0' in stream
    assert b'"index":1' not in stream


def test_only_the_first_candidate_is_written() -> None:
    stream = write(Open(Text(), 1), Delta("x", 1), Close(1))
    assert types_of(stream) == ["message_start", "message_delta", "message_stop"]


def test_an_image_is_not_lost_silently() -> None:
    with pytest.raises(BrokenAnswer):
        write(Open(Media(kind="image", source=Inline("image/png", "iVBO"))))


def test_an_answer_without_usage_has_the_counts_that_the_sdks_need() -> None:
    usage = message_of(event_data(write()))["usage"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (0, 0)


TEXTS = st.text(max_size=12)
SIGNATURES = st.sampled_from([None, Signature("messages", "s"), Signature("other", "o")])
OBJECTS = st.dictionaries(st.text(max_size=3), st.integers() | TEXTS, max_size=3)
BLOCKS: st.SearchStrategy[Block] = st.one_of(
    st.builds(
        Text,
        text=TEXTS,
        citations=st.lists(st.builds(Citation, url=st.just("u"), title=TEXTS), max_size=2),
    ).filter(lambda block: bool(block.text)),
    st.builds(Text, text=TEXTS),
    st.builds(Refusal, text=TEXTS),
    st.builds(Reasoning, text=TEXTS, signature=SIGNATURES),
    st.just(Reasoning(signature=Signature("messages", "redacted:d"))),
    st.builds(
        ToolCall,
        id=st.sampled_from(["call_1", "a:b"]),
        name=st.just("f"),
        arguments=OBJECTS.map(json.dumps) | st.just(""),
    ),
)
FINISHES = st.builds(
    Finish,
    stop=st.sampled_from(["end", "length", "tool_calls", "stop_sequence", "filter", "pause"]),
    sequence=TEXTS,
    explanation=TEXTS,
)
ANSWERS = st.builds(
    Answer,
    id=st.just("1"),
    model=st.just("m"),
    created=st.just(0),
    candidates=st.lists(
        st.builds(Candidate, blocks=st.lists(BLOCKS, max_size=4), finish=FINISHES),
        min_size=1,
        max_size=1,
    ),
    usage=st.builds(Usage, input=st.integers(10, 20), output=st.integers(5, 9), cached=st.just(3)),
)


def without_none(value: Any) -> Any:
    """JSON without members that are null, and without empty lists of citations."""
    if isinstance(value, dict):
        return {name: without_none(each) for name, each in value.items() if each is not None}
    return [without_none(each) for each in value] if isinstance(value, list) else value


@given(answer=ANSWERS, pieces=st.integers(1, 5))
@settings(max_examples=examples(20))
def test_a_stream_comes_to_the_message_in_one_piece(answer: Answer, pieces: int) -> None:
    writer = Writer(REQUEST)
    stream = b"".join(map(writer.write, events_of(answer, pieces)))
    expected = json.loads(write_answer(answer, REQUEST))
    assert without_none(message_of(event_data(stream))) == without_none(expected)


@given(answer=ANSWERS)
@settings(max_examples=examples(20))
def test_messages_and_events_are_those_of_the_vendors_document(answer: Answer) -> None:
    validator("Message").validate(json.loads(write_answer(answer, REQUEST)))
    writer = Writer(REQUEST)
    event = validator("StreamEvent")
    for data in event_data(b"".join(map(writer.write, events_of(answer, 3)))):
        event.validate(json.loads(data))


@each("name", ["Message", "StreamEvent", "MessageRequest"])
def test_the_vendors_document_refuses_something(name: str) -> None:
    assert not validator(name).is_valid({"type": "content_block_stop"})
