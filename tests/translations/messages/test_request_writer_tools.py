"""The tools of another language's caller, and answers as the arguments of one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from engine.translations.messages.request_writer import write_request
from engine.translations.neutral.content import ToolCall, ToolResult
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import (
    BuiltInTool,
    ChatRequest,
    Message,
    OutputFormat,
    Thinking,
    Tool,
    ToolChoice,
)
from engine.values.wildcard import Patterns
from tests.support.each import each
from tests.translations.messages.requests import (
    ALONE,
    ALWAYS,
    CALLED,
    HI,
    LOOK,
    NEW,
    OLD,
    TIME,
    write,
)


def test_tools() -> None:
    schema = Raw(b'{"properties":{"b":{"const":1.0}},"required":["b"]}')
    body, _ = write(tools=[Tool(name="look", description="d", schema=schema, strict=True), TIME])
    assert body["tools"] == [
        {
            "name": "look",
            "description": "d",
            "input_schema": {
                "type": "object",
                "properties": {"b": {"const": 1.0}},
                "additionalProperties": False,
                "required": ["b"],
            },
            "strict": True,
        },
        {"name": "time", "input_schema": {"type": "object", "properties": {}}},
    ]


def test_a_model_that_checks_no_arguments_is_not_asked_to() -> None:
    body, losses = write("claude-opus-4-1", tools=[Tool(name="a", strict=True, place="tools[0]")])
    assert "strict" not in body["tools"][0]
    assert losses == ["(tools[0].strict)"]


def test_a_schema_that_is_no_object_is_named() -> None:
    with pytest.raises(WrongType, match=r"'tools\[0\]'"):
        write(tools=[Tool(name="a", schema=Raw(b"[]"), place="tools[0]")])


@each(
    ("choice", "parallel", "expected", "tools"),
    [
        (None, None, None, ["look", "time"]),
        (None, True, None, ["look", "time"]),
        (None, False, {"type": "auto", **ALONE}, ["look", "time"]),
        (ToolChoice("auto"), None, {"type": "auto"}, ["look", "time"]),
        (ToolChoice("none"), False, {"type": "none"}, ["look", "time"]),
        (ToolChoice("any"), False, {"type": "any", **ALONE}, ["look", "time"]),
        (ToolChoice("any", ("look",)), None, {"type": "tool", "name": "look"}, ["look", "time"]),
        (ToolChoice("any", ("look", "time")), None, {"type": "any"}, ["look", "time"]),
        (ToolChoice("auto", ("time",)), None, {"type": "auto"}, ["time"]),
    ],
)
def test_tool_choice(
    choice: ToolChoice | None, parallel: bool | None, expected: Any, tools: list[str]
) -> None:
    body, losses = write(tools=[LOOK, TIME], tool_choice=choice, parallel_calls=parallel)
    assert body.get("tool_choice") == expected
    assert [tool["name"] for tool in body["tools"]] == tools
    assert losses == []


LOOK_NOW = {"tools": [LOOK], "tool_choice": ToolChoice("any", ("look",))}


@each(("model", "expected_losses"), [(ALWAYS, ["tool_choice"]), ("claude-fable-5", []), (NEW, [])])
def test_a_call_cannot_be_demanded_of_some_models(model: str, expected_losses: list[str]) -> None:
    body, losses = write(model, **LOOK_NOW)
    assert (body["tool_choice"]["type"], losses) == (
        "auto" if expected_losses else "tool",
        expected_losses,
    )


@each(
    ("model", "thinking", "thinking_lost"),
    [
        (NEW, Thinking(effort="low"), "(thinking)"),  # whose effort is carried
        (OLD, Thinking(budget=2000), "thinking"),
        (OLD, Thinking(effort="low"), "thinking"),
    ],
)
def test_a_call_that_is_demanded_comes_without_thoughts(
    model: str, thinking: Thinking, thinking_lost: str
) -> None:
    body, lost = write(model, thinking=thinking, **LOOK_NOW)
    assert body["tool_choice"] == {"type": "tool", "name": "look"}
    assert "thinking" not in body
    assert lost == [thinking_lost]


def test_a_choice_without_tools_is_left_out() -> None:
    body, losses = write(tool_choice=ToolChoice("auto"), parallel_calls=False)
    assert "tool_choice" not in body
    assert losses == []


def test_tools_that_were_called_are_declared_but_cannot_be_called_again() -> None:
    body, losses = write(messages=CALLED)
    assert [tool["name"] for tool in body["tools"]] == ["look"]
    assert (body["tool_choice"], losses) == ({"type": "none"}, [])


def test_a_web_search_of_another_vendor_becomes_this_vendors() -> None:
    search = BuiltInTool(name="s", raw=Raw(b"{}"), kind="web_search")
    body, losses = write(tools=[search])
    assert body["tools"] == [{"type": "web_search_20250305", "name": "web_search"}]
    assert losses == []


def test_another_tool_that_another_vendor_runs_is_lost() -> None:
    tool = BuiltInTool(name="s", raw=Raw(b"{}"), place="tools[0]")
    body, losses = write(tools=[tool])
    assert "tools" not in body
    assert losses == ["tools[0]"]


def test_names_of_tools_are_shortened_everywhere_and_can_be_given_back() -> None:
    name = "mcp.server:" + "x" * 128
    request = ChatRequest(
        language="other",
        model="a",
        messages=[HI, Message(role="assistant", blocks=[ToolCall(id="1", name=name)])],
        tools=[Tool(name=name)],
        tool_choice=ToolChoice("any", (name,)),
    )
    target_request = write_request(request, "m", Losses(Patterns(())))
    body = json.loads(target_request.body)
    (short,) = target_request.tool_names
    assert target_request.tool_names[short] == name
    assert len(short) == 128
    call = body["messages"][1]["content"][0]
    assert [body["tools"][0]["name"], body["tool_choice"]["name"], call["name"]] == [short] * 3


def test_ids_of_calls_are_made_legal_alike_in_calls_and_results() -> None:
    call, result = ToolCall(id="a:b/1", name="f"), ToolResult(id="a:b/1")
    body, _ = write(
        messages=[
            HI,
            Message(role="assistant", blocks=[call]),
            Message(role="user", blocks=[result]),
        ]
    )
    call_id = body["messages"][1]["content"][0]["id"]
    assert call_id.replace("_", "").isalnum()
    assert body["messages"][2]["content"][0]["tool_use_id"] == call_id


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
FORM = OutputFormat(kind="json_schema", schema=Raw(json.dumps(SCHEMA).encode()), name="n")
OLDER = "claude-opus-4-1"


def answer_tool(name: str = "json_tool_call") -> dict[str, Any]:
    return {
        "name": name,
        "description": "Gives the answer to the user.",
        "input_schema": SCHEMA,
    }


def test_an_older_model_answers_a_schema_by_a_tool_that_it_must_call() -> None:
    body, losses = write(OLDER, output=FORM)
    assert body["tools"] == [answer_tool()]
    assert body["tool_choice"] == {"type": "tool", "name": "json_tool_call", **ALONE}
    assert losses == []


@each(
    ("choice", "demand"),
    [
        (None, {"type": "any"}),
        (ToolChoice("auto"), {"type": "any"}),
        (ToolChoice("none"), {"type": "tool", "name": "json_tool_call"}),
    ],
)
def test_the_tool_stands_beside_the_callers(
    choice: ToolChoice | None, demand: dict[str, Any]
) -> None:
    body, _ = write(OLDER, output=FORM, tools=[LOOK], tool_choice=choice)
    assert body["tools"][1:] == [answer_tool()]
    assert body["tool_choice"] == {**demand, **ALONE}


def test_a_call_that_is_demanded_leaves_no_text_to_give_a_form() -> None:
    body, losses = write(OLDER, output=FORM, tools=[LOOK], tool_choice=ToolChoice("any"))
    assert ([tool["name"] for tool in body["tools"]], losses) == (["look"], [])


def test_the_tool_has_a_name_of_its_own() -> None:
    body, _ = write(OLDER, output=FORM, tools=[Tool(name="json_tool_call")])
    assert body["tools"][1:] == [answer_tool("json_tool_call_")]


def test_a_model_that_thinks_cannot_be_told_to_call_the_tool() -> None:
    body, losses = write(OLDER, output=FORM, thinking=Thinking(effort="low"))
    assert ("tools" in body, losses) == (False, ["output"])


def test_a_schema_of_something_else_than_an_object_is_a_loss() -> None:
    form = OutputFormat(kind="json_schema", schema=Raw(b'{"type":"array"}'))
    body, losses = write(OLDER, output=form)
    assert ("tools" in body, losses) == (False, ["output"])
