"""The neutral form of other languages' requests -> messages requests."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from engine.translations.language import RequestLine
from engine.translations.messages.request_reader import read_request
from engine.translations.messages.request_writer import limit_marks, write_verbatim_parameters
from engine.translations.neutral.content import Reasoning, Signature, ToolCall
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.request import (
    Message,
    Thinking,
)
from tests.support.each import each
from tests.translations.messages.requests import (
    CALLED,
    HI,
    LOOK,
    NEW,
    OLD,
    write,
)


def test_the_model_is_called_as_the_target_knows_it_and_gets_a_limit() -> None:
    body, _ = write("claude-opus-4-1")
    assert body == {
        "model": "claude-opus-4-1",
        "max_tokens": 32_000,
        "messages": [{"role": "user", "content": "Hi"}],
    }


def test_a_limit_of_the_caller_counts() -> None:
    assert write(max_tokens=7)[0]["max_tokens"] == 7


def test_thoughts_on_a_budget_need_those_before_the_last_calls() -> None:
    body, losses = write(OLD, messages=CALLED, tools=[LOOK], thinking=Thinking(effort="low"))
    assert "thinking" not in body
    assert losses == ["(thinking)"]


@each("model", [OLD, NEW])
def test_thoughts_go_on_where_those_before_were_sent_back(model: str) -> None:
    thought = Reasoning(text="hm", signature=Signature("messages", "s"))
    messages = [HI, Message(role="assistant", blocks=[thought, *CALLED[1].blocks]), CALLED[2]]
    body, _ = write(model, messages=messages, tools=[LOOK], thinking=Thinking(effort="low"))
    assert body["thinking"]["type"] in ("enabled", "adaptive")


@each(("model", "messages"), [(NEW, CALLED), (OLD, [*CALLED, HI, CALLED[1], HI]), (OLD, [HI])])
def test_only_a_budget_in_a_round_of_calls_needs_earlier_thoughts(
    model: str, messages: list[Message]
) -> None:
    body, losses = write(model, messages=messages, tools=[LOOK], thinking=Thinking(effort="low"))
    assert "thinking" in body
    assert losses == []


def test_arguments_that_are_no_object_are_named() -> None:
    call = ToolCall(id="1", name="f", arguments="[1", place="messages[1].tool_calls[0]")
    with pytest.raises(WrongType, match=r"messages\[1\]\.tool_calls\[0\]"):
        write(messages=[HI, Message(role="assistant", blocks=[call]), HI])


def test_a_call_after_unsigned_thoughts_loses_only_the_thoughts() -> None:
    thought = Reasoning(text="hm", place="messages[1].content[0]")
    call = ToolCall(id="1", name="f", arguments='{"a": 1.0}')
    body, losses = write(messages=[HI, Message(role="assistant", blocks=[thought, call]), HI])
    assert body["messages"][1]["content"] == [
        {"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1.0}}
    ]
    assert losses == ["(messages[1].content[0])"]


MARK = {"cache_control": {"type": "ephemeral"}}


def test_only_the_last_four_marks_are_left() -> None:
    body = {
        "tools": [{"name": "a", **MARK}, {"name": "b"}],
        "system": [{"type": "text", **MARK}],
        "messages": [
            {"content": [{"n": 0, **MARK}, Raw(b"{}")]},
            {"content": "text"},
            {"content": [{"n": 1, **MARK}, {"n": 2, **MARK}]},
        ],
    }
    limit_marks(body)
    assert body["tools"] == [{"name": "a"}, {"name": "b"}]
    assert body["system"] == [{"type": "text", **MARK}]
    assert body["messages"][2]["content"] == [{"n": 1, **MARK}, {"n": 2, **MARK}]  # type: ignore[index]


CACHE = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


@each(
    "members",
    [
        {},
        {"temperature": 0.7, "top_p": 1.0, "top_k": 40},
        {"thinking": {"type": "enabled", "budget_tokens": 2000, "display": "omitted"}},
        {"thinking": {"type": "between_tools"}, "output_config": {"effort": "max"}},
        {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
        {"tool_choice": {"type": "tool", "name": "f", "disable_parallel_tool_use": False}},
        {"tools": [{"name": "f", "input_schema": {"type": "object"}, "strict": False, **CACHE}]},
        {"tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 2}]},
        {"metadata": {"user_id": "a@b.c", "team": "x"}, "service_tier": "auto"},
        {"stop_sequences": ["\n"], "stream": True, "container": {"id": "c", "skills": []}},
    ],
)
def test_parameters_stay_as_they_are(members: dict[str, Any]) -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [], **members}
    request = read_request(json.dumps(body).encode(), RequestLine())
    result = json.loads(msgspec.json.encode(write_verbatim_parameters(request)))
    assert result == members
