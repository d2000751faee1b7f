"""The neutral form of other languages' requests -> responses requests, which the SDK accepts."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Raw

from engine.translations.neutral.content import Text
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
from engine.translations.responses.request_writer import write_request
from engine.values.wildcard import Patterns
from tests.support.each import each
from tests.translations.openai_sdk import check_responses_request

Json = dict[str, Any]

HI = Message(role="user", blocks=[Text(text="Hi")])
LOOK, TIME = Tool(name="look"), Tool(name="time")
THOUGHTS = {"include": ["reasoning.encrypted_content"]}


def write(model: str = "gpt-4o", **members: Any) -> tuple[Json, list[str]]:
    """The body but for the model and the input, and the places of the losses: those of hints in
    brackets."""
    request = ChatRequest(language="other", model="alias", **{"messages": [HI], **members})
    losses = Losses(Patterns(()))
    body = json.loads(write_request(request, model, losses).body)
    check_responses_request(body)
    assert (body.pop("model"), body.pop("store")) == (model, False)
    body.pop("input")
    return body, [f"({o.place})" if o.hint else o.place for o in losses.losses]


@each(
    ("members", "body"),
    [
        ({}, {}),
        ({"max_tokens": 99}, {"max_output_tokens": 99}),
        ({"temperature": Raw(b"0.7"), "top_p": Raw(b"0.5")}, {"temperature": 0.7, "top_p": 0.5}),
        ({"stream": True}, {"stream": True}),
        ({"user": "u"}, {"user": "u"}),
        ({"candidates": 1}, {}),
        ({"presence_penalty": Raw(b"0"), "frequency_penalty": Raw(b"0.0")}, {}),
        ({"logprobs": True}, {"include": ["message.output_text.logprobs"]}),
        (
            {"top_logprobs": 2},
            {"top_logprobs": 2, "include": ["message.output_text.logprobs"]},
        ),
    ],
)
def test_parameters(members: Json, body: Json) -> None:
    assert write(**members) == (body, [])


@each(
    "members",
    [
        {"stop": ["a"]},
        {"seed": Raw(b"0")},
        {"presence_penalty": Raw(b"0.5")},
        {"frequency_penalty": Raw(b"-0.5")},
        {"candidates": 2},
        {"top_k": Raw(b"3")},
    ],
)
def test_what_the_vendor_does_not_have_is_a_loss(members: Json) -> None:
    assert write(**members) == ({}, [*members])


def test_the_least_limit_is_16() -> None:
    assert write(max_tokens=5) == ({"max_output_tokens": 16}, ["(max_tokens)"])


@each(
    ("model", "thinking", "body", "losses"),
    [
        ("gpt-5", Thinking(effort="low"), {"reasoning": {"effort": "low"}, **THOUGHTS}, []),
        ("gpt-5", Thinking(visible=True), {"reasoning": {"summary": "auto"}, **THOUGHTS}, []),
        (
            "gpt-5",
            Thinking(budget=4096, visible=True),
            {"reasoning": {"effort": "medium", "summary": "auto"}, **THOUGHTS},
            [],
        ),
        ("gpt-5", Thinking(adaptive=True), THOUGHTS, []),
        (
            "gpt-5.1",
            Thinking(off=True, visible=True),
            {"reasoning": {"effort": "none"}, **THOUGHTS},
            [],
        ),
        ("gpt-5", None, THOUGHTS, []),
        ("gpt-4o", Thinking(effort="low", visible=True), {}, ["(thinking)"]),
        ("gpt-4o", Thinking(off=True), {}, []),
    ],
)
def test_thoughts_are_asked_of_models_that_have_them(
    model: str, thinking: Thinking | None, body: Json, losses: list[str]
) -> None:
    assert write(model, thinking=thinking) == (body, losses)


CLOSED = b'{"type":"object","properties":{},"additionalProperties":false}'


def test_tools() -> None:
    schema = Raw(CLOSED)
    tool = Tool(name="look", description="Looks.", schema=schema, strict=True)
    body, losses = write(tools=[tool, TIME], parallel_calls=False)
    assert body == {
        "tools": [
            {
                "type": "function",
                "name": "look",
                "description": "Looks.",
                "parameters": json.loads(CLOSED),
                "strict": True,
            },
            {"type": "function", "name": "time", "parameters": None, "strict": False},
        ],
        "parallel_tool_calls": False,
    }
    assert losses == []


def function(name: str) -> Json:
    return {"type": "function", "name": name}


@each(
    ("choice", "expected"),
    [
        (ToolChoice("auto"), "auto"),
        (ToolChoice("none", ("look",)), "none"),
        (ToolChoice("any"), "required"),
        (ToolChoice("any", ("look",)), function("look")),
        (
            ToolChoice("auto", ("look",)),
            {"type": "allowed_tools", "mode": "auto", "tools": [function("look")]},
        ),
        (
            ToolChoice("any", ("look", "time")),
            {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [function("look"), function("time")],
            },
        ),
    ],
)
def test_choices(choice: ToolChoice, expected: Any) -> None:
    assert write(tools=[LOOK, TIME], tool_choice=choice)[0]["tool_choice"] == expected


def test_a_choice_without_tools_is_left_out() -> None:
    assert write(tool_choice=ToolChoice("auto")) == ({}, [])


def test_built_in_tools() -> None:
    search = BuiltInTool(name="web", raw=Raw(b"{}"), kind="web_search")
    bash = BuiltInTool(name="bash", raw=Raw(b"{}"), place="tools[1]")
    assert write(tools=[search, bash]) == ({"tools": [{"type": "web_search"}]}, ["tools[1]"])


@each(
    ("output", "expected"),
    [
        (OutputFormat(kind="json"), {"type": "json_object"}),
        (any_object(), {"type": "json_object"}),
        (
            OutputFormat(kind="json_schema", schema=Raw(CLOSED), description="d", strict=True),
            {
                "type": "json_schema",
                "name": "response",
                "description": "d",
                "schema": json.loads(CLOSED),
                "strict": True,
            },
        ),
    ],
)
def test_forms_of_the_answer(output: OutputFormat, expected: Json) -> None:
    assert write(output=output)[0] == {"text": {"format": expected}}
