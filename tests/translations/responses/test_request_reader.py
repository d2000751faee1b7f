"""Responses requests -> the neutral form."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from engine.translations.neutral.content import Text
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.request import (
    ChatRequest,
    OutputFormat,
    Thinking,
    Tool,
    ToolChoice,
    any_object,
)
from engine.translations.responses.request_reader import read_request
from tests.support.each import each

Json = dict[str, Any]


def read(**members: Any) -> ChatRequest:
    return read_request(json.dumps({"model": "m", **members}).encode(), RequestLine())


def place_of_error(**members: Any) -> str:
    with pytest.raises(WrongType) as excinfo:
        read(**members)
    return excinfo.value.place


def test_an_input_that_is_a_text_is_the_users() -> None:
    request = read(input="Hi", instructions="Be brief.")
    assert [each.role for each in request.messages] == ["user"]
    assert request.messages[0].blocks == [Text(text="Hi", place="input")]
    assert request.system == [Text(text="Be brief.", place="instructions")]


def test_nothing_but_a_model() -> None:
    request = read_request(b"{}", RequestLine(model="l"))
    assert (request.model, request.messages, request.unread) == ("l", [], [])


def test_a_request_that_does_not_mention_store_is_translated() -> None:
    assert read(input="Hi").unread == []
    assert read(input="Hi", store=True).unread == ["store"]


def test_functions() -> None:
    tool = {"type": "function", "name": "f", "description": "Does.", "parameters": {"a": 1.0}}
    request = read(tools=[{**tool, "strict": True}, {"type": "function", "name": "g"}])
    assert request.tools == [
        Tool(
            name="f",
            description="Does.",
            schema=Raw(b'{"a": 1.0}'),
            strict=True,
            place="tools[0]",
        ),
        Tool(name="g", place="tools[1]"),
    ]
    assert place_of_error(tools=[{"type": "function"}]) == "tools[0].name"


def function(name: str) -> Json:
    return {"type": "function", "name": name}


@each(
    ("choice", "neutral"),
    [
        ("auto", ToolChoice("auto")),
        ("none", ToolChoice("none")),
        ("required", ToolChoice("any")),
        (function("f"), ToolChoice("any", ("f",))),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [function("f")]},
            ToolChoice("auto", ("f",)),
        ),
        (
            {"type": "allowed_tools", "mode": "required", "tools": [function("f"), function("g")]},
            ToolChoice("any", ("f", "g")),
        ),
    ],
)
def test_choices(choice: Any, neutral: ToolChoice) -> None:
    request = read(tool_choice=choice)
    assert (request.tool_choice, request.unread) == (neutral, [])


@each(
    "choice",
    [
        {"type": "file_search"},
        {"type": "mcp", "server_label": "s"},
        {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "mcp"}]},
    ],
)
def test_a_choice_of_a_tool_that_the_vendor_runs_is_this_languages(choice: Json) -> None:
    request = read(tool_choice=choice)
    assert (request.tool_choice, request.unread) == (None, ["tool_choice"])


@each(
    ("choice", "place"),
    [
        ("sometimes", "tool_choice"),
        ({"type": "function"}, "tool_choice.name"),
        ({"type": "allowed_tools", "tools": []}, "tool_choice.mode"),
    ],
)
def test_choices_of_another_form(choice: Any, place: str) -> None:
    assert place_of_error(tool_choice=choice) == place


@each(
    ("text", "output", "verbosity"),
    [
        ({"verbosity": "low"}, None, "low"),
        ({"format": {"type": "text"}}, None, ""),
        ({"format": {"type": "json_object"}}, any_object(), ""),
        (
            {
                "format": {
                    "type": "json_schema",
                    "name": "n",
                    "description": "d",
                    "schema": {},
                    "strict": False,
                }
            },
            OutputFormat(
                kind="json_schema", name="n", description="d", schema=Raw(b"{}"), strict=False
            ),
            "",
        ),
    ],
)
def test_forms_of_the_answer(text: Json, output: OutputFormat | None, verbosity: str) -> None:
    request = read(text=text)
    assert (request.output, request.verbosity) == (output, verbosity)
    assert request.place_of("output") == "text.format"


@each("kind", ["text", "json_object"])
def test_an_unknown_member_of_a_form_is_named(kind: str) -> None:
    assert read(text={"format": {"type": kind, "x": 1}}).unread == ["text.format.x"]


def test_another_form_of_the_answer_is_refused() -> None:
    assert place_of_error(text={"format": {"type": "yaml"}}) == "text.format.type"


@each(
    ("reasoning", "thinking"),
    [
        ({"effort": "low"}, Thinking(effort="low")),
        ({"effort": "none"}, Thinking(effort="none", off=True)),
        ({"summary": "auto"}, Thinking(visible=True)),
        ({"effort": None, "summary": None}, None),
        (None, None),
    ],
)
def test_wishes_to_think(reasoning: Json | None, thinking: Thinking | None) -> None:
    assert read(reasoning=reasoning).thinking == thinking


def test_limits_and_log_probabilities() -> None:
    request = read(max_output_tokens=99, top_logprobs=2, include=["message.output_text.logprobs"])
    assert (request.max_tokens, request.top_logprobs, request.logprobs) == (99, 2, True)
    assert request.place_of("max_tokens") == "max_output_tokens"
    assert read(top_logprobs=0).top_logprobs is None
