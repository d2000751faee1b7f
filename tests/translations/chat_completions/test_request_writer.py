"""The neutral form of other languages' requests -> chat completions requests, which the SDK
accepts."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Raw

from engine.translations.chat_completions.request_writer import write_request
from engine.translations.neutral.content import Text, ToolCall
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import (
    BuiltInTool,
    ChatRequest,
    Message,
    OutputFormat,
    Thinking,
    Tool,
    ToolChoice,
    any_object,
)
from engine.values.wildcard import Patterns
from tests.support.each import each
from tests.translations.openai_sdk import check_chat_request

HI = Message(role="user", blocks=[Text(text="Hi")])
LOOK, TIME = Tool(name="look"), Tool(name="time")


def write(model: str = "gpt-4o", **members: Any) -> tuple[Any, list[str]]:
    """The body but for the model and the messages, and the places of the losses: those of hints in
    brackets."""
    request = ChatRequest(language="other", model="alias", **{"messages": [HI], **members})
    losses = Losses(Patterns(()))
    body = json.loads(write_request(request, model, losses).body)
    check_chat_request(body)
    assert body.pop("model") == model
    body.pop("messages")
    return body, [f"({o.place})" if o.hint else o.place for o in losses.losses]


@each(
    ("members", "body"),
    [
        ({}, {}),
        ({"max_tokens": 9}, {"max_tokens": 9}),
        ({"temperature": Raw(b"0.7")}, {"temperature": 0.7}),
        ({"stop": ["a"]}, {"stop": ["a"]}),
        ({"candidates": 2}, {"n": 2}),
        ({"logprobs": True}, {"logprobs": True}),
        ({"top_logprobs": 2}, {"logprobs": True, "top_logprobs": 2}),
        ({"user": "u"}, {"user": "u"}),
        ({"stream": True}, {"stream": True, "stream_options": {"include_usage": True}}),
        # the gateway counts the usage of every stream
        (
            {"stream": True, "stream_usage": False},
            {"stream": True, "stream_options": {"include_usage": True}},
        ),
    ],
)
def test_parameters(members: dict[str, Any], body: dict[str, Any]) -> None:
    assert write(**members) == (body, [])


def test_a_model_that_reasons_gets_the_newer_limit() -> None:
    assert write("o3-mini", max_tokens=9)[0] == {"max_completion_tokens": 9}


@each(("number", "loss"), [(b"5", "top_k"), (b"40", "(top_k)")])
def test_the_vendor_has_no_top_k(number: bytes, loss: str) -> None:
    assert write(top_k=Raw(number)) == ({}, [loss])


def test_tools() -> None:
    schema = Raw(b'{"type":"object","properties":{},"b":1.0,"additionalProperties":false}')
    tool = Tool(name="look", description="Looks.", schema=schema, strict=True)
    body, losses = write(tools=[tool, TIME], parallel_calls=False)
    function = {"name": "look", "description": "Looks.", "parameters": json.loads(bytes(schema))}
    assert body == {
        "tools": [
            {"type": "function", "function": {**function, "strict": True}},
            {"type": "function", "function": {"name": "time"}},
        ],
        "parallel_tool_calls": False,
    }
    assert losses == []


def test_names_that_the_vendor_refuses_are_shortened_everywhere_alike() -> None:
    name = "mcp.tool/" + "x" * 80
    called = Message(role="assistant", blocks=[ToolCall(id="c1", name=name)])
    request = ChatRequest(
        language="other",
        model="alias",
        messages=[HI, called],
        tools=[Tool(name=name)],
        tool_choice=ToolChoice("any", (name,)),
    )
    target_request = write_request(request, "m", Losses(Patterns(())))
    body = json.loads(target_request.body)
    names = {
        body["tools"][0]["function"]["name"],
        body["tool_choice"]["function"]["name"],
        body["messages"][1]["tool_calls"][0]["function"]["name"],
    }
    assert len(names) == 1
    assert target_request.tool_names == {names.pop(): name}


def function(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


@each(
    ("choice", "expected"),
    [
        (ToolChoice("auto"), "auto"),
        (ToolChoice("none"), "none"),
        (ToolChoice("none", ("look",)), "none"),
        (ToolChoice("any"), "required"),
        (ToolChoice("any", ("look",)), function("look")),
        (
            ToolChoice("auto", ("look",)),
            {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "auto", "tools": [function("look")]},
            },
        ),
        (
            ToolChoice("any", ("look", "time")),
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [function("look"), function("time")],
                },
            },
        ),
    ],
)
def test_choices(choice: ToolChoice, expected: Any) -> None:
    assert write(tools=[LOOK, TIME], tool_choice=choice)[0]["tool_choice"] == expected


def test_a_choice_without_tools_is_left_out() -> None:
    assert write(tool_choice=ToolChoice("auto"), parallel_calls=True) == ({}, [])


def test_built_in_tools() -> None:
    search = BuiltInTool(name="web", raw=Raw(b"{}"), kind="web_search")
    bash = BuiltInTool(name="bash", raw=Raw(b"{}"), place="tools[1]")
    target_request: tuple[Any, list[str]] = ({"web_search_options": {}}, ["tools[1]"])
    assert write("gpt-4o-search-preview", tools=[search, bash]) == target_request


def test_a_model_that_does_not_search_is_not_asked_to() -> None:
    search = BuiltInTool(name="web", raw=Raw(b"{}"), kind="web_search", place="tools[0]")
    assert write("gpt-4o", tools=[search]) == ({}, ["tools[0]"])


@each(
    ("output", "expected"),
    [
        (OutputFormat(kind="json"), {"type": "json_object"}),
        (any_object(), {"type": "json_object"}),
        (OutputFormat(kind="json_schema"), {"type": "json_object"}),
        (
            OutputFormat(kind="json_schema", schema=Raw(b"{}")),
            {"type": "json_schema", "json_schema": {"name": "response", "schema": {}}},
        ),
        (
            OutputFormat(
                kind="json_schema", schema=Raw(b"{}"), name="n", description="d", strict=False
            ),
            {
                "type": "json_schema",
                "json_schema": {"name": "n", "description": "d", "schema": {}, "strict": False},
            },
        ),
    ],
)
def test_forms_of_the_answer(output: OutputFormat, expected: Any) -> None:
    assert write(output=output)[0]["response_format"] == expected


def test_a_wish_to_think_that_the_model_cannot_grant_is_a_hint() -> None:
    assert write("gpt-4o", thinking=Thinking(effort="high")) == ({}, ["(thinking)"])
    assert write("gpt-5", thinking=Thinking(effort="high"))[0] == {"reasoning_effort": "high"}


def test_tools_that_a_model_takes_in_responses_only_are_left_out() -> None:
    tools = [Tool(name="look", place="tools[0]"), TIME]
    members = {"tool_choice": ToolChoice("any", ("look",)), "parallel_calls": False}
    body, losses = write("gpt-6-astra", tools=tools, thinking=Thinking(effort="high"), **members)
    assert (body, losses) == ({"reasoning_effort": "high"}, ["tools[0]"])
