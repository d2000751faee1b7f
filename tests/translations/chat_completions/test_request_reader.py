"""Chat completions requests -> the neutral form."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from engine.translations.chat_completions.request_reader import read_request
from engine.translations.neutral.content import Text
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.request import (
    BuiltInTool,
    ChatRequest,
    OutputFormat,
    Thinking,
    Tool,
    ToolChoice,
)
from tests.support.each import each

Json = dict[str, Any]


def read(**members: Any) -> ChatRequest:
    return read_request(json.dumps({"model": "m", **members}).encode(), RequestLine())


def function(name: str) -> Json:
    return {"type": "function", "function": {"name": name}}


def message(role: str, content: str = "x", **members: Any) -> Json:
    return {"role": role, "content": content, **members}


@each(
    ("roles", "hoisted", "turns"),
    [
        (["system", "developer", "user"], 2, ["user"]),
        (["user", "developer", "user"], 0, ["user", "system", "user"]),
        (["system"], 1, []),
    ],
)
def test_the_instructions_at_the_beginning_are_the_systems(
    roles: list[str], hoisted: int, turns: list[str]
) -> None:
    request = read(messages=[message(role) for role in roles])
    assert [block.place for block in request.system] == [
        f"messages[{index}].content" for index in range(hoisted)
    ]
    assert [each.role for each in request.messages] == turns


def test_instructions_of_a_name_stay_where_they_are() -> None:
    request = read(messages=[message("system", name="boss")])
    assert (request.system, request.unread) == ([], ["messages[0].name"])
    assert request.messages[0].blocks == [Text(text="x", place="messages[0].content")]


@each("role", ["narrator", "", None])
def test_another_role_is_refused(role: str | None) -> None:
    with pytest.raises(WrongType) as excinfo:
        read(messages=[{"role": role, "content": "x"}])
    assert excinfo.value.place == "messages[0].role"


@each(
    ("choice", "neutral"),
    [
        ("auto", ToolChoice("auto")),
        ("none", ToolChoice("none")),
        ("required", ToolChoice("any")),
        ("validated", ToolChoice("auto")),
        ("any", ToolChoice("any")),
        (function("f"), ToolChoice("any", ("f",))),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [function("f")]}},
            ToolChoice("auto", ("f",)),
        ),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "required", "tools": [function("f"), function("g")]},
            },
            ToolChoice("any", ("f", "g")),
        ),
    ],
)
def test_choices(choice: Any, neutral: ToolChoice) -> None:
    request = read(tool_choice=choice)
    assert (request.tool_choice, request.unread) == (neutral, [])


CUSTOM = {"type": "custom", "custom": {"name": "grammar"}}


@each(
    "choice",
    [
        CUSTOM,
        {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [CUSTOM]}},
    ],
)
def test_a_choice_of_a_tool_that_is_no_function_is_this_languages(choice: Json) -> None:
    request = read(tool_choice=choice)
    assert (request.tool_choice, request.unread) == (None, ["tool_choice"])


@each(
    ("choice", "place"),
    [
        ("sometimes", "tool_choice"),
        ({"type": "function"}, "tool_choice.function.name"),
        ({"type": "allowed_tools"}, "tool_choice.allowed_tools"),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "no"}},
            "tool_choice.allowed_tools.mode",
        ),
    ],
)
def test_choices_of_another_form(choice: Any, place: str) -> None:
    with pytest.raises(WrongType) as excinfo:
        read(tool_choice=choice)
    assert excinfo.value.place == place


def test_tools() -> None:
    tool = {
        "name": "f",
        "description": "Does.",
        "parameters": {"type": "object"},
        "strict": True,
        "x": 1,
    }
    request = read(tools=[{"type": "function", "function": tool}, function("g"), CUSTOM])
    assert request.tools == [
        Tool(
            name="f",
            description="Does.",
            schema=Raw(b'{"type": "object"}'),
            strict=True,
            place="tools[0]",
            schema_member="function.parameters",
        ),
        Tool(name="g", place="tools[1]", schema_member="function.parameters"),
        BuiltInTool(
            name="custom",
            raw=Raw(json.dumps(CUSTOM).encode()),
            place="tools[2]",
        ),
    ]
    assert request.unread == ["tools[0].function.x"]


@each(
    ("tool", "place"),
    [
        ({"type": "function"}, "tools[0].function"),
        ({"type": "function", "function": {}}, "tools[0].function.name"),
    ],
)
def test_tools_of_another_form(tool: Json, place: str) -> None:
    with pytest.raises(WrongType) as excinfo:
        read(tools=[tool])
    assert excinfo.value.place == place


@each(
    ("form", "output"),
    [
        ({"type": "text"}, None),
        ({"type": "json_object"}, OutputFormat(kind="json", schema=Raw(b'{"type":"object"}'))),
        (
            {
                "type": "json_schema",
                "json_schema": {
                    "name": "n",
                    "description": "d",
                    "schema": {"a": 1.0},
                    "strict": True,
                },
            },
            OutputFormat(
                kind="json_schema",
                name="n",
                description="d",
                schema=Raw(b'{"a": 1.0}'),
                strict=True,
            ),
        ),
    ],
)
def test_forms_of_the_answer(form: Json, output: OutputFormat | None) -> None:
    request = read(response_format=form)
    assert (request.output, request.place_of("output")) == (output, "response_format")


@each("form", [{"type": "yaml"}, {"type": "json_schema"}, {}])
def test_other_forms_of_the_answer_are_refused(form: Json) -> None:
    with pytest.raises(WrongType, match=r"response_format\.type"):
        read(response_format=form)


def test_unknown_members_of_the_form_are_noted() -> None:
    schema = {"name": "n", "schema": {}, "x": 1}
    request = read(response_format={"type": "json_schema", "json_schema": schema, "y": 1})
    assert request.unread == ["response_format.json_schema.x", "response_format.y"]


@each(
    ("members", "limit", "place"),
    [
        ({"max_tokens": 5}, 5, "max_tokens"),
        ({"max_completion_tokens": 6}, 6, "max_completion_tokens"),
        ({"max_tokens": 5, "max_completion_tokens": 6}, 6, "max_completion_tokens"),
        ({"max_tokens": 5, "max_completion_tokens": None}, 5, "max_tokens"),
    ],
)
def test_limits(members: Json, limit: int, place: str) -> None:
    request = read(**members)
    assert (request.max_tokens, request.place_of("max_tokens")) == (limit, place)


def test_numbers_keep_their_text() -> None:
    request = read_request(b'{"temperature":0.70,"top_p":1.0,"seed":7e0}', RequestLine(model="l"))
    assert request.model == "l"
    assert [request.temperature, request.top_p, request.seed] == [
        Raw(b"0.70"),
        Raw(b"1.0"),
        Raw(b"7e0"),
    ]


@each(("stop", "sequences"), [("END", ["END"]), (["a", "b"], ["a", "b"]), (None, [])])
def test_stop_sequences(stop: Any, sequences: list[str]) -> None:
    assert read(stop=stop).stop == sequences


@each(
    ("effort", "thinking"),
    [
        ("high", Thinking(effort="high")),
        ("none", Thinking(effort="none", off=True)),
        (None, None),
    ],
)
def test_efforts(effort: str | None, thinking: Thinking | None) -> None:
    assert read(reasoning_effort=effort).thinking == thinking


@each(
    ("name", "value", "unread"),
    [
        ("search_parameters", {"mode": "off"}, []),
        ("search_parameters", {"mode": "auto"}, ["search_parameters"]),
        ("search_parameters", {"mode": "off", "sources": []}, ["search_parameters"]),
        ("modalities", ["text"], []),
        ("min_p", 0.0, []),
        ("min_p", 0.1, ["min_p"]),
        ("store", False, []),
    ],
)
def test_members_that_ask_for_nothing_are_read(name: str, value: Any, unread: list[str]) -> None:
    assert read(**{name: value}).unread == unread


@each(
    ("options", "expected"),
    [
        (None, False),
        ({}, False),
        ({"include_usage": False}, False),
        ({"include_usage": True}, True),
    ],
)
def test_usage_of_a_stream_is_told_only_on_demand(options: Json | None, expected: bool) -> None:
    assert read(stream=True, stream_options=options).stream_usage == expected


@each(
    "body", [b"", b"[]", b"{", b'{"messages":{}}', b'{"n":"2"}', b'{"user":"\xff"}', b"[" * 100_000]
)
def test_what_is_no_request_is_refused(body: bytes) -> None:
    with pytest.raises(WrongType):
        read_request(body, RequestLine())
