"""Tools, and which of them must be called."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

from engine.translations.neutral.content import Text, ToolCall, ToolResult
from engine.translations.neutral.request import BuiltInTool, OutputFormat, Tool, ToolChoice
from tests.support.each import each
from tests.translations.converse.writing import (
    CLAUDE,
    CLAUDE_4_1,
    HI,
    LLAMA,
    NOVA,
    assistant,
    user,
    written,
)

OBJECT = Raw(b'{"type":"object"}')
F, G = Tool(name="f", description="F", schema=OBJECT), Tool(name="g", schema=OBJECT)
CALLED = (
    HI,
    assistant(ToolCall(id="t", name="f", arguments='{"a":1}')),
    user(ToolResult(id="t", content=[Text(text="x")])),
)


def names(body: Any) -> list[str]:
    tools = body.get("toolConfig", {}).get("tools", [])
    return [each["toolSpec"]["name"] for each in tools if "toolSpec" in each]


def test_a_tool_has_its_schema_and_a_description_that_is_not_empty() -> None:
    tools = written(CLAUDE, tools=[F, G, Tool(name="h")]).body["toolConfig"]["tools"]
    schemas = [{"type": "object"}, {"type": "object"}, {"type": "object", "properties": {}}]
    assert [each["toolSpec"]["inputSchema"]["json"] for each in tools] == schemas
    assert [each["toolSpec"].get("description") for each in tools] == ["F", None, None]


CHOICES = [
    (None, ["f", "g"], None),
    (ToolChoice("auto"), ["f", "g"], None),
    (ToolChoice("any"), ["f", "g"], {"any": {}}),
    (ToolChoice("any", ("g",)), ["f", "g"], {"tool": {"name": "g"}}),
    (ToolChoice("auto", ("g",)), ["g"], None),
    (ToolChoice("any", ("f", "g")), ["f", "g"], {"any": {}}),
    (ToolChoice("none"), [], None),
]


@each(("choice", "tools", "expected"), CHOICES)
def test_the_choice_of_a_tool(choice: Any, tools: list[str], expected: Any) -> None:
    request = written(CLAUDE, tools=[F, G], tool_choice=choice)
    assert names(request.body) == tools
    assert request.body.get("toolConfig", {}).get("toolChoice") == expected
    assert not request.lost


def test_calls_cannot_be_forbidden_once_there_were_some() -> None:
    request = written(CLAUDE, *CALLED, tools=[F, G], tool_choice=ToolChoice("none"))
    assert list(request.lost) == ["tool_choice"]
    assert names(request.body) == ["f", "g"]


def test_tools_that_were_called_before_are_declared() -> None:
    assert names(written(CLAUDE, *CALLED).body) == ["f"]


def test_long_names_are_shortened_and_known_by_the_short_one() -> None:
    long = Tool(name="a.b" * 40, schema=OBJECT)
    request = written(CLAUDE, tools=[long], tool_choice=ToolChoice("any", (long.name,)))
    (short,) = names(request.body)
    assert request.request.tool_names == {short: long.name}
    assert request.body["toolConfig"]["toolChoice"] == {"tool": {"name": short}}


def test_strict_tools_are_those_of_models_that_check_arguments() -> None:
    schema = Raw(b'{"type":"object","properties":{}}')
    strict = Tool(name="f", schema=schema, strict=True, place="t")
    spec = written(CLAUDE, tools=[strict]).body["toolConfig"]["tools"][0]["toolSpec"]
    assert spec["strict"] is True
    assert written(NOVA, tools=[strict]).hints == {"t.strict"}


def test_marks_of_tools_are_those_of_models_that_keep_them() -> None:
    marked = Tool(name="f", schema=OBJECT, cache="5m")
    point = {"cachePoint": {"type": "default"}}
    assert written(CLAUDE, tools=[marked]).body["toolConfig"]["tools"][1:] == [point]
    assert written(NOVA, tools=[marked]).body["toolConfig"]["tools"][1:] == []


def test_a_tool_that_another_vendor_runs_is_lost() -> None:
    search = BuiltInTool(language="x", name="web_search", raw=Raw(b"{}"), place="tools[0]")
    assert list(written(CLAUDE, tools=[search]).lost) == ["tools[0]"]


OUTPUT = OutputFormat(kind="json_schema", schema=OBJECT, name="n", description="Says it.")


@pytest.mark.parametrize("model", [CLAUDE_4_1, NOVA, LLAMA])
def test_a_model_that_takes_no_schema_answers_by_a_tool(model: str) -> None:
    request = written(model, output=OUTPUT)
    name = request.request.answer_tool
    config = request.body["toolConfig"]
    assert names(request.body) == [name]
    assert config["toolChoice"] == {"tool": {"name": name}}
    assert config["tools"][0]["toolSpec"]["description"] == "Says it."


def test_a_call_of_a_tool_may_take_the_place_of_the_answer() -> None:
    request = written(NOVA, output=OUTPUT, tools=[F])
    assert names(request.body) == ["f", request.request.answer_tool]
    assert request.body["toolConfig"]["toolChoice"] == {"any": {}}


def test_a_demanded_call_leaves_no_answer() -> None:
    request = written(NOVA, output=OUTPUT, tools=[F], tool_choice=ToolChoice("any"))
    assert (request.request.answer_tool, names(request.body)) == ("", ["f"])
