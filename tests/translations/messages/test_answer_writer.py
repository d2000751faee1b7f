"""Messages in one piece."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.translations.messages.answer_reader import read_answer
from engine.translations.messages.answer_writer import Writer, write_answer
from engine.translations.neutral import events
from engine.translations.neutral.answer import Answer, Candidate, collect
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
from engine.translations.neutral.events import BrokenAnswer, Finish, UpstreamError
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.request import ChatRequest, Thinking
from engine.values.usage import Usage
from tests.support.each import each
from tests.support.translations import event_data
from tests.translations.messages.documents import events_of, message_of

REQUEST = ChatRequest(
    language="messages",
    model="alias",
    messages=[],
    id="req-1",
    thinking=Thinking(adaptive=True),
)
END = Finish(stop="end")
SEQUENCE = Finish(stop="stop_sequence", native="stop_sequence", sequence="END")


def write(
    *blocks: Block, finish: Finish = END, request: ChatRequest = REQUEST, **members: Any
) -> Any:
    values = {"id": "x1", "model": "m", "created": 0, "usage": None, **members}
    answer = Answer(candidates=[Candidate(list(blocks), finish)], **values)
    return json.loads(write_answer(answer, request))


def read(**members: Any) -> Answer:
    return collect(read_answer(json.dumps(members).encode()))


def test_a_message_has_its_members_in_the_vendors_order() -> None:
    usage = Usage(input=20, output=9, cached=7, cache_write=3, cache_write_1h=1, reasoning=4)
    message = write(Text(text="Hi"), usage=usage)
    assert list(message.items()) == [
        ("id", "msg_x1"),
        ("type", "message"),
        ("role", "assistant"),
        ("model", "alias"),
        ("content", [{"type": "text", "text": "Hi"}]),
        ("stop_reason", "end_turn"),
        ("stop_sequence", None),
        (
            "usage",
            {
                "input_tokens": 10,
                "cache_creation_input_tokens": 3,
                "cache_read_input_tokens": 7,
                "cache_creation": {
                    "ephemeral_5m_input_tokens": 2,
                    "ephemeral_1h_input_tokens": 1,
                },
                "output_tokens": 9,
                "output_tokens_details": {"thinking_tokens": 4},
            },
        ),
    ]


def test_an_answer_without_id_and_model_has_those_of_the_request() -> None:
    message = write(Text(text="Hi"), id="", model="")
    assert (message["id"], message["model"]) == ("msg_req-1", "alias")


@each(
    ("block", "expected"),
    [
        (
            ToolCall(id="call_1", name="f", arguments='{"b":1.0,"a":2}'),
            {"type": "tool_use", "id": "call_1", "name": "f", "input": {"b": 1.0, "a": 2}},
        ),
        (
            ToolCall(id="call_1", name="f"),
            {"type": "tool_use", "id": "call_1", "name": "f", "input": {}},
        ),
        (
            Reasoning(text="hm", signature=Signature("gemini", "g")),
            {"type": "thinking", "thinking": "hm", "signature": "modelway:gemini:g"},
        ),
        (
            Reasoning(text="hm"),
            {"type": "thinking", "thinking": "hm", "signature": "modelway:unsigned:"},
        ),
        (
            Reasoning(signature=Signature("gemini", "g")),
            {"type": "thinking", "thinking": "", "signature": "modelway:gemini:g"},
        ),
        (Refusal(text="I can't."), {"type": "text", "text": "I can't."}),
        (
            Text(text="Cat.", citations=[Citation(url="u", title="t", start=0, end=3)]),
            {
                "type": "text",
                "text": "Cat.",
                "citations": [
                    {
                        "type": "web_search_result_location",
                        "cited_text": "",
                        "url": "u",
                        "title": "t",
                        "encrypted_index": "modelway:",
                    }
                ],
            },
        ),
    ],
)
def test_blocks(block: Block, expected: Any) -> None:
    assert write(block)["content"] == [expected]


@each("block", [Text(), Reasoning(), Foreign(kind="k")])
def test_blocks_that_say_nothing_here_are_left_out(block: Block) -> None:
    assert write(block, Text(text="x"))["content"] == [{"type": "text", "text": "x"}]


def test_an_image_in_an_answer_is_not_lost_silently() -> None:
    with pytest.raises(BrokenAnswer, match="kind 'image', which this format cannot carry"):
        write(Media(kind="image", source=Inline("image/png", "iVBO")))


CALL = ToolCall(id="c", name="f")


@each(
    ("finish", "blocks", "reason"),
    [
        (END, [Text(text="x")], "end_turn"),
        (END, [Refusal(text="no")], "refusal"),
        (Finish(stop="tool_calls"), [CALL], "tool_use"),
        (Finish(stop="length"), [CALL], "max_tokens"),
        (Finish(stop="filter"), [], "refusal"),
        (Finish(stop="pause"), [], "pause_turn"),
        (SEQUENCE, [], "stop_sequence"),
        (Finish(stop="stop_sequence", native="stop_sequence"), [], "end_turn"),
        (Finish(stop="length", native="MAX_TOKENS"), [], "max_tokens"),
        (
            Finish(stop="length", native="model_context_window_exceeded"),
            [],
            "model_context_window_exceeded",
        ),
    ],
)
def test_stop_reasons(finish: Finish, blocks: list[Block], reason: str) -> None:
    assert write(*blocks, finish=finish)["stop_reason"] == reason


@each(("stop", "expected"), [(["END"], ("stop_sequence", "END")), ([], ("end_turn", None))])
def test_a_sequence_that_another_vendor_names_is_one_of_the_callers(
    stop: list[str], expected: tuple[str, str | None]
) -> None:
    request = ChatRequest(language="messages", model="alias", messages=[], stop=stop)
    finish = Finish(stop="stop_sequence", native="stop", sequence="END")
    message = write(Text(text="x"), finish=finish, request=request)
    assert (message["stop_reason"], message["stop_sequence"]) == expected


def test_a_refusal_is_explained() -> None:
    message = write(finish=Finish(stop="filter", explanation="Too dangerous."))
    assert message["stop_details"] == {
        "type": "refusal",
        "category": None,
        "explanation": "Too dangerous.",
    }


def test_a_call_that_was_cut_off_at_the_limit_is_left_out() -> None:
    cut = ToolCall(id="c", name="f", arguments='{"a":')
    message = write(Text(text="x"), cut, finish=Finish(stop="length"))
    assert [block["type"] for block in message["content"]] == ["text"]


def test_arguments_that_are_not_json_are_named() -> None:
    with pytest.raises(WrongType, match="the arguments of f"):
        write(ToolCall(id="c", name="f", arguments='{"a":'), finish=Finish(stop="tool_calls"))


@each("members", [{"content": []}, {"content": [], "stop_reason": None}])
def test_a_message_with_neither_content_nor_stop_reason_is_broken(members: Any) -> None:
    with pytest.raises(BrokenAnswer):
        read(id="m", **members)


def test_an_error_with_status_200_is_the_upstreams_error() -> None:
    with pytest.raises(UpstreamError) as excinfo:
        read(type="error", error={"type": "overloaded_error", "message": "Overloaded"})
    assert (excinfo.value.status, excinfo.value.message) == (503, "Overloaded")


@each("body", [b"", b"[]", b"<html>", b'{"content":{}}'])
def test_another_format_is_no_message(body: bytes) -> None:
    with pytest.raises((WrongType, BrokenAnswer)):
        list(read_answer(body))


def test_a_caller_who_omits_thoughts_gets_their_signatures_alone() -> None:
    thinking = Thinking(adaptive=True, visible=False)
    request = ChatRequest(language="messages", model="m", messages=[], thinking=thinking)
    blocks = [Reasoning(text="hm", signature=Signature("messages", "s")), Reasoning(text="hm")]
    answer = Answer(
        id="x", model="m", created=0, candidates=[Candidate([*blocks], END)], usage=None
    )
    content = json.loads(write_answer(answer, request))["content"]
    assert content == [{"type": "thinking", "thinking": "", "signature": "s"}]
    writer = Writer(request)
    stream = b"".join(map(writer.write, events_of(answer, 1)))
    assert message_of(event_data(stream))["content"] == content


CALL = ToolCall(id="c", name="f", arguments='{"a":1}')
MARK = {"type": "thinking", "thinking": "", "signature": "modelway:unsigned:"}


@each(
    ("thinking", "blocks", "kinds"),
    [
        (Thinking(budget=1024), [CALL], ["mark", "tool_use"]),
        (
            Thinking(budget=1024),
            [Text(text="a"), CALL, CALL],
            ["text", "mark", "tool_use", "tool_use"],
        ),
        (Thinking(budget=1024), [Reasoning(text="hm"), CALL], ["thinking", "tool_use"]),
        (Thinking(budget=1024), [Text(text="a")], ["text"]),
        (Thinking(adaptive=True), [CALL], ["tool_use"]),
        (Thinking(off=True, budget=1024), [CALL], ["tool_use"]),
        (None, [CALL], ["tool_use"]),
    ],
)
def test_calls_without_the_thoughts_that_were_asked_for_are_marked(
    thinking: Thinking | None, blocks: list[Block], kinds: list[str]
) -> None:
    request = ChatRequest(language="messages", model="m", messages=[], thinking=thinking)
    candidate = Candidate(blocks, Finish(stop="tool_calls"))
    answer = Answer(id="1", model="m", created=0, usage=None, candidates=[candidate])
    content = json.loads(write_answer(answer, request))["content"]
    assert ["mark" if block == MARK else block["type"] for block in content] == kinds
    writer = Writer(request)
    stream = event_data(b"".join(map(writer.write, events_of(answer, 3))))
    assert message_of(stream)["content"] == content


def test_what_is_held_back_of_thoughts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.translations.neutral.calls.MAX_ARGUMENTS", 10)
    thoughts = [events.Open(Reasoning()), events.Delta("1234567")]
    signed = events.Sign(Signature("other", "12345"))
    for rest in ([events.Delta("4567")], [signed, events.Close()]):
        writer = Writer(ChatRequest(language="messages", model="alias", messages=[]))
        writer.write(events.Start(id="x"))
        assert [writer.write(each) for each in thoughts] == [b"", b""]
        with pytest.raises(BrokenAnswer, match="over 10 characters that must be buffered"):
            [writer.write(each) for each in rest]
