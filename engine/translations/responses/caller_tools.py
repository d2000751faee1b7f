"""Tools that the caller runs and that only responses have: groups of functions (`namespace`), tools
whose input is a plain text (`custom`), and the caller's search for further tools (`tool_search`).

A model of another vendor gets functions in their place; a call of such a function is written back
as the item that its caller expects.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw

from engine.translations.neutral.arguments import arguments_object
from engine.translations.neutral.content import ToolCall
from engine.translations.neutral.members import Members, WrongType
from engine.translations.neutral.request import BuiltInTool, CallerTool, ChatRequest, Tool

NAME = "responses"

Json = dict[str, Any]

SEARCH = "tool_search"
"""The function that stands for the caller's search for tools."""

_FUNCTION = CallerTool("function", "")
_INPUT = {
    "type": "object",
    "properties": {
        "input": {"type": "string", "description": "The input of the tool, as plain text."}
    },
    "required": ["input"],
    "additionalProperties": False,
}
_TEXT_SCHEMA = Raw(msgspec.json.encode(_INPUT))
_ANY_SCHEMA = Raw(b'{"type":"object"}')


def read_tools(members: Members, request: ChatRequest, name: str) -> list[Tool | BuiltInTool]:
    """The tools in a member; those that functions stand for are noted in the request. Raises
    WrongType."""
    place = members.place_of(name)
    return [
        _read_tool(raw, members.child(raw, f"{place}[{index}]"), request.caller_tools)
        for index, raw in enumerate(members.items(name) or ())
    ]


def _read_tool(raw: Raw, tool: Members, names: dict[str, CallerTool]) -> Tool | BuiltInTool:
    kind = tool.text("type") or "function"
    if kind == "function":
        return _read_function(tool)
    if kind.startswith("web_search"):
        if tool.peek("external_web_access") == b"true":
            tool.boolean("external_web_access")
        tool.rest()  # each option is this vendor's
        return BuiltInTool(language=NAME, name=kind, raw=raw, kind="web_search", place=tool.place)
    functions: list[Tool] = []
    if kind == "namespace":
        functions = list(_read_group(tool, names))
    elif kind == "custom":
        functions = [_read_text_tool(tool, names)]
    elif kind == "tool_search" and tool.text("execution") == "client":
        functions = [_read_search(tool, names)]
    return BuiltInTool(language=NAME, name=kind, raw=raw, functions=functions, place=tool.place)


def _read_function(tool: Members) -> Tool:
    name = tool.text("name")
    if not name:
        raise tool.wrong("name", "the name of a function")
    return Tool(
        name=name,
        description=tool.text("description") or "",
        schema=tool.raw("parameters"),
        strict=tool.boolean("strict"),
        place=tool.place,
        extra=tool.rest(),
    )


def _read_group(group: Members, names: dict[str, CallerTool]) -> Iterator[Tool]:
    name = group.text("name") or ""
    group.raw("description")  # each function has its own
    for tool in group.objects("tools"):
        kind = tool.text("type")
        tool.raw("defer_loading")
        if kind == "custom":
            yield _read_text_tool(tool, names, name)
        else:
            function = _read_function(tool)
            yield _named(function, CallerTool("function", function.name, name), names)
    group.rest()


def _read_text_tool(tool: Members, names: dict[str, CallerTool], group: str = "") -> Tool:
    """A function with one argument, the text. Its grammar is described to the model, which no
    other vendor can hold to it."""
    tool.raw("defer_loading")
    description = tool.text("description") or ""
    form = tool.members("format")
    if form is not None and form.text("type") == "grammar":
        syntax, grammar = form.text("syntax") or "", form.text("definition") or ""
        description += f"\n\nThe input must match this {syntax} grammar:\n{grammar}"
    name = tool.text("name") or ""
    function = Tool(
        name=name,
        description=description.strip(),
        schema=_TEXT_SCHEMA,
        place=tool.place,
        extra=tool.rest(),
    )
    return _named(function, CallerTool("custom", name, group), names)


def _read_search(tool: Members, names: dict[str, CallerTool]) -> Tool:
    function = Tool(
        name=SEARCH,
        description=tool.text("description") or "",
        schema=tool.raw("parameters") or _ANY_SCHEMA,
        place=tool.place,
        extra=tool.rest(),
    )
    return _named(function, CallerTool(SEARCH, SEARCH), names)


def _named(function: Tool, tool: CallerTool, names: dict[str, CallerTool]) -> Tool:
    function.name = function_name(tool.group, tool.name)
    names[function.name] = tool
    return function


def function_name(group: str, name: str) -> str:
    """The name of the function that stands for a tool of a group."""
    return f"{group}__{name}" if group else name


def names_of(tools: list[Tool | BuiltInTool]) -> str:
    """What a search for tools tells a model of another vendor, to which the tools are declared as
    functions: the names of these."""
    functions = [each for tool in tools for each in getattr(tool, "functions", ()) or (tool,)]
    return msgspec.json.encode({"tools": [function.name for function in functions]}).decode()


def text_arguments(text: str) -> str:
    """The arguments of a function that stands for a tool whose input is a text."""
    return msgspec.json.encode({"input": text}).decode()


def needs_whole(call: ToolCall, request: ChatRequest) -> bool:
    """Whether the item of a call can be written only when its arguments are complete."""
    return request.caller_tools.get(call.name, _FUNCTION).kind != "function"


def call_prefix(call: ToolCall, request: ChatRequest) -> str:
    """How the id of the item of a call begins."""
    kind = request.caller_tools.get(call.name, _FUNCTION).kind
    return {"custom": "ctc", "tool_search": "tsc"}.get(kind, "fc")


def call_item(call: ToolCall, item_id: str, status: str, request: ChatRequest) -> Json:
    """The item of a call, as the caller expects it of that tool. Raises WrongType for arguments
    that are no object where they are needed."""
    tool = request.caller_tools.get(call.name, _FUNCTION)
    complete = status == "completed"
    head: Json = {"id": item_id, "call_id": call.id}
    group = {"namespace": tool.group} if tool.group else {}
    if tool.kind == "custom":
        text = call_text(call) if complete else ""
        return {"type": "custom_tool_call", **head, **group, "name": tool.name, "input": text}
    if tool.kind == "tool_search":
        arguments = arguments_object(call) if complete else {}
        more = {"execution": "client", "arguments": arguments}
        return {"type": "tool_search_call", "status": status, **head, **more}
    return {
        "id": item_id,
        "type": "function_call",
        "status": status,
        "arguments": call.arguments or ("{}" if complete else ""),
        "call_id": call.id,
        **group,
        "name": tool.name or call.name,
    }


def call_text(call: ToolCall) -> str:
    """The text in the arguments of a call; all of them where the model has named it otherwise.
    Raises WrongType for arguments that are no object."""
    arguments = Members(arguments_object(call))
    try:
        text = arguments.text("input")
    except WrongType:
        text = None
    return call.arguments if text is None else text
