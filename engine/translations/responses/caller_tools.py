"""Tools that the caller runs and that only responses have: groups of functions (`namespace`), tools
whose input is a plain text (`custom`), the caller's shell (`local_shell`) and its search for
further tools (`tool_search`).

A model of another vendor gets functions in their place; a call of such a function is written back
as the item that its caller expects.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Raw

from engine.translations.neutral import content as neutral
from engine.translations.neutral.calls import arguments_object, arguments_text
from engine.translations.neutral.json_members import Members, WrongType, encode
from engine.translations.neutral.losses import FACTOR
from engine.translations.neutral.request import BuiltInTool, CallerTool, ChatRequest, Tool
from engine.translations.neutral.request_json import kind_of
from engine.translations.responses.request_shapes import FunctionTool
from engine.translations.vendors.openai_request_fields import read_function
from engine.values.trees import Json

SEARCH = "tool_search"
"""The function that stands for the caller's search for tools."""

SHELL = "local_shell"
"""The function that stands for the caller's shell."""

_MAX_GROUP = 128
"""The longest name of a group, in characters, that may begin the names of any number of tools."""

_FUNCTION = CallerTool("function", "")
_INPUT = {
    "type": "object",
    "properties": {
        "input": {"type": "string", "description": "The input of the tool, as plain text."}
    },
    "required": ["input"],
    "additionalProperties": False,
}
_TEXT_SCHEMA = Raw(encode(_INPUT))
_RUNS = "Runs a command on the user's machine: a program and its arguments, without a shell."
_COMMAND = {
    "type": "object",
    "properties": {
        "command": {"type": "array", "items": {"type": "string"}},
        "working_directory": {"type": "string"},
        "timeout_ms": {"type": "integer"},
        "env": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["command"],
}


def read_tools(
    tools: list[Raw] | None, place: str, request: ChatRequest
) -> list[Tool | BuiltInTool]:
    """The tools at `place`; those that functions stand for are noted in the request."""
    return [
        _read_tool(raw, f"{place}[{index}]", request.caller_tools, request.unread)
        for index, raw in enumerate(tools or ())
    ]


def _read_tool(
    raw: Raw, place: str, names: dict[str, CallerTool], unread: list[str]
) -> Tool | BuiltInTool:
    kind = kind_of(raw, place) or "function"
    if kind == "function":
        return read_function(FunctionTool.read(raw, place, unread), place)
    tool = Members(raw, place, unread)
    tool.raw("type")
    if kind.startswith("web_search"):
        if tool.peek("external_web_access") == b"true":
            tool.boolean("external_web_access")
        tool.rest()  # each option is this vendor's
        return BuiltInTool(name=kind, raw=raw, kind="web_search", place=place)
    functions: list[Tool] = []
    if kind == "namespace":
        functions = list(_read_group(tool, len(bytes(raw)), names, unread))
    elif kind == "custom":
        functions = [_read_text_tool(tool, names)]
    elif kind == "tool_search" and tool.text("execution") == "client":
        functions = [_read_search(tool, names)]
    elif kind == SHELL:
        function = Tool(name=SHELL, description=_RUNS, schema=Raw(encode(_COMMAND)), place=place)
        functions = [_named(function, CallerTool(SHELL, SHELL), names)]
        tool.rest()
    return BuiltInTool(name=kind, raw=raw, functions=functions, place=place)


def _read_group(
    group: Members, size: int, names: dict[str, CallerTool], unread: list[str]
) -> Iterator[Tool]:
    """The functions of a group of `size` bytes, whose name begins each of theirs."""
    name = group.text("name") or ""
    group.raw("description")  # each function has its own
    tools = group.place_of("tools")
    items = group.items("tools") or ()
    longest = max(_MAX_GROUP, FACTOR * size // max(1, len(items)))
    if len(name) > longest:
        raise group.wrong("name", f"a name of at most {longest} characters for so many tools")
    for index, raw in enumerate(items):
        place = f"{tools}[{index}]"
        if kind_of(raw, place) == "custom":
            tool = group.child(raw, place)
            tool.raw("type")
            yield _read_text_tool(tool, names, name)
        else:
            function = read_function(FunctionTool.read(raw, place, unread), place)
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
        name=name, description=description.strip(), schema=_TEXT_SCHEMA, place=tool.place
    )
    tool.rest()
    return _named(function, CallerTool("custom", name, group), names)


def _read_search(tool: Members, names: dict[str, CallerTool]) -> Tool:
    function = Tool(
        name=SEARCH,
        description=tool.text("description") or "",
        schema=tool.raw("parameters") or Raw(b'{"type":"object"}'),
        place=tool.place,
    )
    tool.rest()
    return _named(function, CallerTool(SEARCH, SEARCH), names)


def _named(function: Tool, tool: CallerTool, names: dict[str, CallerTool]) -> Tool:
    function.name = function_name(tool.group, tool.name)
    names[function.name] = tool
    return function


def function_name(group: str, name: str) -> str:
    return f"{group}__{name}" if group else name


def names_of(tools: list[Tool | BuiltInTool]) -> str:
    """What a search for tools tells a model that has them declared: their names."""
    functions = [each for tool in tools for each in getattr(tool, "functions", ()) or (tool,)]
    return encode({"tools": [function.name for function in functions]}).decode()


def text_arguments(text: str) -> str:
    return encode({"input": text}).decode()


def needs_whole(call: neutral.ToolCall, request: ChatRequest) -> bool:
    """Whether the item of a call can be written only when its arguments are complete."""
    return request.caller_tools.get(call.name, _FUNCTION).kind != "function"


def call_prefix(call: neutral.ToolCall, request: ChatRequest) -> str:
    kind = request.caller_tools.get(call.name, _FUNCTION).kind
    return {"custom": "ctc", SEARCH: "tsc", SHELL: "lsh"}.get(kind, "fc")


def call_item(call: neutral.ToolCall, item_id: str, status: str, request: ChatRequest) -> Json:
    """As the caller expects it. Raises WrongType for arguments that must be an object."""
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
    if tool.kind == SHELL:
        action = _action(call) if complete else {"type": "exec", "command": [], "env": {}}
        return {"type": "local_shell_call", "status": status, **head, "action": action}
    return {
        "id": item_id,
        "type": "function_call",
        "status": status,
        "arguments": arguments_text(call) if complete else call.arguments,
        "call_id": call.id,
        **group,
        "name": tool.name or call.name,
    }


def _action(call: neutral.ToolCall) -> Json:
    """What the caller's shell is to do. A command may also come as one text. Raises WrongType."""
    arguments = Members(arguments_object(call))
    if arguments.is_text("command"):
        command = ["sh", "-c", arguments.text("command") or ""]
    else:
        command = arguments.texts("command") or []
    env = arguments.raw("env") or Raw(b"{}")
    return {**arguments.copy(), "type": "exec", "command": command, "env": env}


def call_text(call: neutral.ToolCall) -> str:
    """The argument `input`, or the only one if the model has named the text otherwise; else all of
    what it wrote, which may be the text itself. Raises WrongType for an object that is cut."""
    if call.arguments[:1] not in ("{", ""):
        return call.arguments
    arguments = Members(arguments_object(call))
    names = list(arguments.copy())
    try:
        text = arguments.text(str(names[0]) if len(names) == 1 else "input")
    except WrongType:
        text = None
    return call.arguments if text is None else text
