"""Why an answer ended agrees with its calls, for each caller of each target, whole and streamed."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from engine.translations import languages, target_language, target_languages
from engine.translations.neutral.answer import Answer
from engine.translations.neutral.content import Block, Text, ToolCall
from engine.translations.neutral.events import BrokenAnswer, Stop
from tests.support.sayings import Saying, saying_of
from tests.support.sdk_accumulators import as_sdk
from tests.support.translation_strategies import events_of, write_answer, write_stream
from tests.support.translations import event_data, translated
from tests.translations.answers import answer

CALLERS = [each.name for each in languages()]
TARGETS = [each.name for each in target_languages()]
EVERY_CROSSING = pytest.mark.parametrize(
    ("caller", "target", "stream"), list(itertools.product(CALLERS, TARGETS, (False, True)))
)
TEXT, CALL = Text(text="I look."), ToolCall(id="c1", name="look", arguments='{"a":1.0}')
SAYS_TOOLS = ("chat_completions", "messages", "converse")
"""The languages that have a word for an end for tool calls."""


def _documents(target: str, said: Answer, *, stream: bool) -> list[bytes]:
    """What an upstream writes."""
    speaks = target_language(target)
    if not stream:
        return [write_answer(speaks, said)]
    return event_data(write_stream(speaks, events_of(said, 4)))


def _said(caller: str, target: str, stop: Stop, *blocks: Block, stream: bool) -> Saying:
    """What a caller's SDK reads of an upstream's answer."""
    documents = _documents(target, answer(*blocks, stop=stop), stream=stream)
    output = translated(documents, caller, target, from_stream=stream, stream=stream)
    return saying_of(caller, as_sdk(caller, output, stream=stream))


@EVERY_CROSSING
@pytest.mark.parametrize("stop", ["end", "tool_calls"])
def test_a_call_arrives_with_the_stop_that_says_so(
    caller: str, target: str, stream: bool, stop: Stop
) -> None:
    said = _said(caller, target, stop, TEXT, CALL, stream=stream)
    assert (said.text, said.calls) == ("I look.", [("look", {"a": 1.0})])
    assert said.stop == ("tools" if caller in SAYS_TOOLS else "end")


@EVERY_CROSSING
def test_an_answer_that_was_cut_stays_one_beside_its_calls(
    caller: str, target: str, stream: bool
) -> None:
    said = _said(caller, target, "length", TEXT, CALL, stream=stream)
    assert (said.calls, said.stop) == ([("look", {"a": 1.0})], "length")


@pytest.mark.parametrize(
    ("caller", "target", "stream"), list(itertools.product(CALLERS, SAYS_TOOLS, (False, True)))
)
def test_a_stop_for_tools_without_a_call_is_no_answer(
    caller: str, target: str, stream: bool
) -> None:
    documents = _documents(target, answer(stop="tool_calls"), stream=stream)
    with pytest.raises(BrokenAnswer, match="ends for tool calls, but it has none"):
        translated(documents, caller, target, from_stream=stream, stream=stream)


@pytest.mark.parametrize(
    ("caller", "target", "stream"), list(itertools.product(CALLERS, SAYS_TOOLS, (False, True)))
)
def test_a_text_that_stops_for_tools_without_a_call_has_ended(
    caller: str, target: str, stream: bool
) -> None:
    said = _said(caller, target, "tool_calls", TEXT, stream=stream)
    assert (said.text, said.calls, said.stop) == ("I look.", [], "end")


BEDROCK: Any = {
    "toolUseId": "tooluse_1",
    "name": "look",
    "type": "tool_use",
}


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("stream", [False, True])
def test_a_call_of_claude_on_bedrock_is_a_call(caller: str, stream: bool) -> None:
    whole = {"toolUse": {**BEDROCK, "input": {"a": 1.0}}}
    message = {"role": "assistant", "content": [{"text": "I look."}, whole]}
    documents: list[Any] = [{"output": {"message": message}, "stopReason": "tool_use"}]
    if stream:
        place = {"contentBlockIndex": 1}
        arguments = {"toolUse": {"input": '{"a":1.0}'}}
        documents = [
            {"messageStart": {"role": "assistant"}},
            {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "I look."}}},
            {"contentBlockStop": {"contentBlockIndex": 0}},
            {"contentBlockStart": {**place, "start": {"toolUse": BEDROCK}}},
            {"contentBlockDelta": {**place, "delta": arguments}},
            {"contentBlockStop": place},
            {"messageStop": {"stopReason": "tool_use"}},
            {"metadata": {"usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}}},
        ]
    data = [json.dumps(each).encode() for each in documents]
    output = translated(data, caller, "converse", from_stream=stream, stream=stream)
    said = saying_of(caller, as_sdk(caller, output, stream=stream))
    assert (said.text, said.calls) == ("I look.", [("look", {"a": 1.0})])


OWN_STOPS = {
    "chat_completions": '{"choices": [{"message": {"content": "Hi"}, "finish_reason": "%s"}]}',
    "messages": '{"content": [{"type": "text", "text": "Hi"}], "stop_reason": "%s"}',
    "converse": '{"output": {"message": {"content": [{"text": "Hi"}]}}, "stopReason": "%s"}',
    "generate_content": '{"candidates": [{"content": {"parts": [{"text": "Hi"}]}, '
    '"finishReason": "%s"}]}',
}
FOREIGN_STOPS = {
    "length": "length",
    "max_tokens": "length",
    "MAX_TOKENS": "length",
    "model_context_window_exceeded": "length",
    "max_new_tokens": "length",
    "content_filter": "filter",
    "sensitive": "filter",
    "guardrail_intervened": "filter",
    "PROHIBITED_CONTENT": "filter",
    "stop": "end",
    "STOP": "end",
    "eos_token": "end",
}
"""Reasons of an end as servers write them who imitate a vendor, and as Z.ai adds them."""


@pytest.mark.parametrize("target", OWN_STOPS)
def test_the_words_of_other_vendors_say_why_an_answer_ended(target: str) -> None:
    for reason, stop in FOREIGN_STOPS.items():
        body = (OWN_STOPS[target] % reason).encode()
        found = translated([body], "chat_completions", target, from_stream=False, stream=False)
        (choice,) = json.loads(found)["choices"]
        words = {"length": "length", "filter": "content_filter", "end": "stop"}
        assert choice["finish_reason"] == words[stop], reason


@pytest.mark.parametrize("target", OWN_STOPS)
def test_a_text_with_a_foreign_word_for_tools_without_a_call_has_ended(target: str) -> None:
    for reason in ("tool_calls", "tool_call", "tool_use", "function_call", "toolUse"):
        body = (OWN_STOPS[target] % reason).encode()
        found = translated([body], "chat_completions", target, from_stream=False, stream=False)
        assert json.loads(found)["choices"][0]["finish_reason"] == "stop", reason
