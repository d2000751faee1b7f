"""Signatures in `extra_content`: read in answers and requests, and sent back."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from engine.translations import languages, translation
from engine.translations.chat_completions.answer_fields import Message
from engine.translations.chat_completions.choice_reader import ChoiceReader
from engine.translations.chat_completions.content_writer import MessageWriter
from engine.translations.chat_completions.thoughts import read_extra
from engine.translations.neutral.calls import ToolNames
from engine.translations.neutral.content import Block, Reasoning, Signature, Text, ToolCall
from engine.translations.neutral.events import Event, Open, Sign
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.refusals import LossRules
from engine.translations.neutral.request import ChatRequest
from engine.translations.neutral.request import Message as Turn
from engine.values.wildcard import Patterns
from tests.support.each import each
from tests.support.translations import translated

Json = dict[str, Any]

EXTRA = {"google": {"thought_signature": "EjQKMgEM"}}
OTHER = {"vertex": {"thought_signature": "AY89"}, "google": {"thought": True}}


def call(name: str, **members: Any) -> Json:
    return {"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}} | members


def kinds(*deltas: Json) -> list[str]:
    """The blocks of a choice in their order, with the words of their signatures."""
    reader = ChoiceReader(0, "chatcmpl-1")
    events: list[Event] = []
    for delta in deltas:
        reader.delta(msgspec.json.decode(json.dumps(delta), type=Message), events)
    reader.stop("stop")
    names = []
    for event in [*events, *reader.close()]:
        if isinstance(event, Open):
            names.append(event.block.name if isinstance(event.block, ToolCall) else "other")
        elif isinstance(event, Sign):
            names[-1] = event.signature.value.partition(" ")[0]
    return names


@each(
    ("deltas", "blocks"),
    [
        ([{"tool_calls": [call("a", extra_content=EXTRA), call("b")]}], ["call", "a", "b"]),
        ([{"tool_calls": [call("a")]}, {"tool_calls": [call("b", extra_content=EXTRA)]}],
         ["a", "call", "b"]),
        ([{"content": "Hi"}, {"content": "", "extra_content": EXTRA}], ["other", "message"]),
        ([{"content": "Hi", "extra_content": EXTRA}, {"content": "!"}], ["other", "message"]),
        ([{"extra_content": EXTRA, "tool_calls": [call("a")]}], ["message", "a"]),
        ([{"tool_calls": [{"index": 0, "id": "a", "function": {"name": "a"}}]},
          {"tool_calls": [{"index": 0, "extra_content": EXTRA}]},
          {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}], ["call", "a"]),
        ([{"tool_calls": [{"index": 0, "id": "a", "function": {"name": "a", "arguments": "{"}}]},
          {"tool_calls": [{"index": 0, "extra_content": EXTRA, "function": {"arguments": "}"}}]}],
         ["a", "last_call"]),
        ([{"tool_calls": [{"index": 0, "id": "a", "extra_content": EXTRA,
                           "function": {"name": "a", "arguments": "{"}}]},
          {"tool_calls": [{"index": 0, "extra_content": EXTRA, "function": {"arguments": "}"}}]}],
         ["call", "a"]),
    ],
)  # fmt: skip
def test_signatures_stand_in_front_of_what_they_sign(deltas: list[Json], blocks: list[str]) -> None:
    assert kinds(*deltas) == blocks


@each("extra", [{}, [], 7, None, {"google": "x"}, {"google": {"thought_signature": 7}}])
def test_an_odd_member_costs_nobody_an_answer(extra: Any) -> None:
    assert kinds({"tool_calls": [call("a", extra_content=extra)], "extra_content": extra}) == ["a"]


def next_request(caller: str, reply: Any) -> Json:
    """The request with which a caller sends an answer back."""
    if caller == "chat_completions":
        messages = [{"role": "user", "content": "Hi"}, reply["choices"][0]["message"]]
        return {"model": "m", "messages": messages}
    if caller == "responses":
        return {"model": "m", "input": reply["output"], "store": False}
    if caller == "messages":
        result = {"type": "tool_result", "tool_use_id": "a", "content": "1"}
        turns = [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": reply["content"]},
            {"role": "user", "content": [result, result | {"tool_use_id": "b"}]},
        ]
        return {"model": "m", "max_tokens": 9, "messages": turns}
    return {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}, reply["candidates"][0]["content"]]
    }


@pytest.mark.parametrize("extra", [EXTRA, OTHER])
@pytest.mark.parametrize("caller", [o.name for o in languages() if o.name != "chat_completions"])
def test_a_signature_returns_to_its_call(caller: str, extra: Json) -> None:
    message = {"role": "assistant", "content": None}
    calls = [call("a"), call("b", extra_content=extra)]
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message | {"tool_calls": calls}}
    answer = json.dumps({"id": "x", "choices": [choice]}).encode()
    output = translated([answer], caller, "chat_completions", from_stream=False, stream=False)
    body = json.dumps(next_request(caller, json.loads(output))).encode()
    pair = translation(caller, "chat_completions")
    sent = json.loads(pair.request(body, RequestLine(), "m", LossRules()).target_request.body)
    written = sent["messages"][-3 if caller == "messages" else -1]["tool_calls"]
    assert [each.get("extra_content") for each in written] == [None, extra]


def write(*blocks: Block, gemini: bool = False) -> Json:
    writer = MessageWriter(ToolNames(), Losses(Patterns(())), "gemini" if gemini else "m")
    turn = Turn(role="assistant", blocks=list(blocks))
    return writer.write(ChatRequest(language="messages", model="m", messages=[turn]))[-1]


def signed(value: str, language: str = "chat_completions") -> Reasoning:
    return Reasoning(signature=Signature(language, value))


A = ToolCall(id="a", name="a")


def test_a_signature_of_the_message_is_written_there() -> None:
    value = read_extra(msgspec.Raw(json.dumps(EXTRA).encode()), message=True)
    message = write(Text(text="Hi"), signed(value), A)
    assert json.loads(bytes(message["extra_content"])) == EXTRA
    assert "extra_content" not in message["tool_calls"][0]


def test_a_late_signature_is_that_of_the_call_before() -> None:
    value = read_extra(msgspec.Raw(json.dumps(EXTRA).encode()), late=True)
    assert "extra_content" in write(A, signed(value))["tool_calls"][0]


@each(
    "value", ["call", "call {", 'call {"google":{}}', "call 7", 'x {"a":{"thought_signature":"b"}}']
)
def test_a_signature_that_callers_made_up_is_not_sent(value: str) -> None:
    assert "extra_content" not in json.dumps(write(signed(value), A), default=str)


def test_signatures_of_geminis_own_api_are_sent_to_its_models_alone() -> None:
    native = signed("EjQKMgEM", "generate_content")
    assert write(native, A, gemini=True)["tool_calls"][0]["extra_content"] == EXTRA
    assert "extra_content" not in write(native, A)["tool_calls"][0]
    thought = signed("thought:EjQK", "generate_content")
    assert "extra_content" not in write(thought, A, gemini=True)["tool_calls"][0]


@pytest.mark.parametrize("where", ["message", "call"])
def test_geminis_own_api_gets_the_signatures_of_its_compatible_endpoint(where: str) -> None:
    calls = [call("a", **({"extra_content": EXTRA} if where == "call" else {}))]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    if where == "message":
        message["extra_content"] = EXTRA
    result = {"role": "tool", "tool_call_id": "a", "content": "1"}
    turns = [{"role": "user", "content": "Hi"}, message, result]
    body = json.dumps({"model": "m", "messages": turns}).encode()
    pair = translation("chat_completions", "generate_content")
    exchange = pair.request(body, RequestLine(), "gemini-3-pro-preview", LossRules())
    contents = json.loads(exchange.target_request.body)["contents"]
    assert contents[1]["parts"][0]["thoughtSignature"] == "EjQKMgEM"
    assert not exchange.dropped


@each("target", ["responses", "messages", "converse"])
def test_other_vendors_do_not_get_the_signature(target: str) -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [call("a", extra_content=EXTRA)]}
    result = {"role": "tool", "tool_call_id": "a", "content": "1"}
    turns = [{"role": "user", "content": "Hi"}, message, result]
    body = json.dumps({"model": "m", "messages": turns}).encode()
    exchange = translation("chat_completions", target).request(
        body, RequestLine(), "us.anthropic.claude-sonnet-4-5", LossRules()
    )
    assert exchange.dropped == ["messages.tool_calls.extra_content"]
    assert b"EjQK" not in exchange.target_request.body
