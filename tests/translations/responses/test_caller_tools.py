"""Tools that the caller runs and that only responses have."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from openai.types.responses import (
    ResponseCustomToolCall,
    ResponseFunctionToolCall,
    ResponseToolSearchCall,
)
from openai.types.responses.response_output_item import LocalShellCall
from pydantic import TypeAdapter

from engine.translations import language
from engine.translations.neutral.content import ToolCall
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.request import BuiltInTool, CallerTool, ChatRequest
from engine.translations.responses.caller_tools import call_item

RESPONSES = language("responses")


def read(*tools: dict[str, Any], items: Any = "Hi") -> ChatRequest:
    document = {"model": "m", "input": items, "tools": list(tools)}
    return RESPONSES.read_request(json.dumps(document).encode(), RequestLine())


def functions(request: ChatRequest) -> list[tuple[str, str]]:
    """The functions that stand for the tools: names and descriptions."""
    return [
        (function.name, function.description)
        for tool in request.tools
        if isinstance(tool, BuiltInTool)
        for function in tool.functions
    ]


def test_a_group_is_a_function_for_each_of_its_tools() -> None:
    tools: list[dict[str, Any]] = [
        {"type": "function", "name": "find", "description": "Finds."},
        {"type": "custom", "name": "note"},
    ]
    request = read({"type": "namespace", "name": "crm", "description": "All.", "tools": tools})
    assert functions(request) == [("crm__find", "Finds."), ("crm__note", "")]
    assert request.caller_tools == {
        "crm__find": CallerTool("function", "find", "crm"),
        "crm__note": CallerTool("custom", "note", "crm"),
    }


def test_a_grammar_is_described_to_the_model() -> None:
    form = {"type": "grammar", "syntax": "regex", "definition": "[a-z]+"}
    request = read({"type": "custom", "name": "word", "description": "A word.", "format": form})
    [(name, description)] = functions(request)
    assert name == "word"
    assert description == "A word.\n\nThe input must match this regex grammar:\n[a-z]+"


def test_a_search_that_the_vendor_runs_has_no_substitute() -> None:
    request = read({"type": "tool_search"}, {"type": "tool_search", "execution": "server"})
    assert functions(request) == []
    assert not request.caller_tools


def test_members_of_a_tool_that_nobody_knows_are_noted() -> None:
    request = read({"type": "custom", "name": "note", "colour": "red"})
    assert request.unread == ["tools[0].colour"]


def item(tool: CallerTool, arguments: str, status: str = "completed") -> Any:
    request = ChatRequest(language="responses", model="m", messages=[], caller_tools={"f": tool})
    return call_item(ToolCall(id="1", name="f", arguments=arguments), "item_1", status, request)


@pytest.mark.parametrize(
    ("tool", "arguments", "kind"),
    [
        (CallerTool("custom", "note", "crm"), '{"input": "Hi"}', ResponseCustomToolCall),
        (CallerTool("function", "find", "crm"), '{"id": 7}', ResponseFunctionToolCall),
        (CallerTool("tool_search", "tool_search"), '{"query": "x"}', ResponseToolSearchCall),
        (CallerTool("local_shell", "local_shell"), '{"command": ["ls"]}', LocalShellCall),
        (CallerTool("local_shell", "local_shell"), '{"command": "ls | wc"}', LocalShellCall),
    ],
)
def test_the_sdk_reads_the_item_of_each_kind(tool: CallerTool, arguments: str, kind: Any) -> None:
    result = json.loads(msgspec.json.encode(item(tool, arguments)))
    parsed = TypeAdapter(kind).validate_python(result, strict=True)
    assert getattr(parsed, "namespace", None) == (tool.group or None)


def test_a_text_is_taken_out_of_its_arguments() -> None:
    assert item(CallerTool("custom", "note"), '{"input": "\\"Hi\\"\\n"}')["input"] == '"Hi"\n'


@pytest.mark.parametrize("arguments", ['{"patch": 7}', '{"a": "x", "b": ""}', "{}", "*** Begin"])
def test_arguments_of_another_form_are_given_as_the_model_wrote_them(arguments: str) -> None:
    assert item(CallerTool("custom", "note"), arguments)["input"] == arguments


def test_the_only_argument_is_the_text_whatever_the_model_calls_it() -> None:
    assert item(CallerTool("custom", "note"), '{"patch": "x"}')["input"] == "x"


def test_a_command_that_is_one_text_is_given_to_a_shell() -> None:
    shell, env = CallerTool("local_shell", "local_shell"), {"A": "1"}
    action = item(shell, '{"command": "ls | wc", "timeout_ms": 9, "env": {"A": "1"}}')["action"]
    assert json.loads(msgspec.json.encode(action)) == {
        "type": "exec",
        "command": ["sh", "-c", "ls | wc"],
        "timeout_ms": 9,
        "env": env,
    }


@pytest.mark.parametrize("kind", ["custom", "tool_search", "local_shell"])
def test_arguments_that_are_no_object_are_wrong(kind: str) -> None:
    with pytest.raises(WrongType):
        item(CallerTool(kind, "x"), '{"a')


def test_an_item_that_begins_has_no_content_yet() -> None:
    assert item(CallerTool("custom", "note"), "", "in_progress")["input"] == ""
    assert item(CallerTool("tool_search", "tool_search"), "", "in_progress")["arguments"] == {}
