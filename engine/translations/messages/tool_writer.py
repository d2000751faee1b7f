"""The tools of a caller of another language, and which of them may be called.

Models that take no schema of their answer get it as the schema of a tool which they must call.
"""

from __future__ import annotations

from engine.translations.anthropic_models import Model, strict_schema
from engine.translations.neutral.calls import (
    NO_ARGUMENTS,
    ToolNames,
    answer_tool_description,
    answer_tool_name,
    arguments_schema,
)
from engine.translations.neutral.content import Json, mark
from engine.translations.neutral.limits import Losses
from engine.translations.neutral.parameters import LimitedWriter, read_web_search
from engine.translations.neutral.request import BuiltInTool, ChatRequest, Tool, callable_tools

_WEB_SEARCH = {"type": "web_search_20250305", "name": "web_search"}


class ToolWriter(LimitedWriter[Model]):
    """Writes the members `tools` and `tool_choice` of one request, as this model accepts them."""

    def __init__(
        self, request: ChatRequest, names: ToolNames, model: Model, losses: Losses
    ) -> None:
        super().__init__(request, model, losses)
        self._names = names

    def write(self, messages: list[Json]) -> Json:
        """The members, for a conversation of these written messages."""
        tools = [
            declaration
            for tool in callable_tools(self._request)
            if (declaration := self._tool(tool)) is not None
        ]
        if not tools:
            return _called_tools(messages)
        choice = self._choice() if self._request.tools else {}
        return {"tools": tools, "tool_choice": choice} if choice else {"tools": tools}

    def add_answer_tool(self, members: Json) -> str:
        """Add the tool whose arguments are the answer, and demand that it or another one is called.
        Returns its name, "" where no text is answered, since a call is demanded anyway."""
        choice = self._request.tool_choice
        if choice is not None and choice.mode == "any":
            return ""
        output = self._request.output
        assert output is not None
        tools = members.get("tools", [])
        name = answer_tool_name({each["name"] for each in tools if isinstance(each, dict)})
        description = answer_tool_description(output)
        schema = output.schema
        tool = {"name": name, "description": description, "input_schema": schema}
        may_call = tools and members.get("tool_choice", {}).get("type") != "none"
        demand: Json = {"type": "any"} if may_call else {"type": "tool", "name": name}
        members["tools"] = [*tools, tool]
        members["tool_choice"] = {**demand, "disable_parallel_tool_use": True}
        return name

    def _tool(self, tool: Tool | BuiltInTool) -> Json | None:
        """A tool as it is declared; None for one that cannot be."""
        if isinstance(tool, Tool):
            return self._function(tool)
        if tool.kind == "web_search":
            return self._web_search(tool)
        self._losses.add(tool.place, f"the tool '{tool.name}' is run by another vendor")
        return None

    def _function(self, tool: Tool) -> Json:
        function: Json = {"name": self._names.legal(tool.name)}
        if tool.description:
            function["description"] = tool.description
        function["input_schema"] = arguments_schema(tool)
        if (schema := strict_schema(tool, self._model, self._losses)) is not None:
            function.update(input_schema=schema, strict=True)
        mark(function, tool.cache)
        return function

    def _web_search(self, tool: BuiltInTool) -> Json:
        names = ("allowed_domains", "blocked_domains", "location")
        options = read_web_search(tool).carry(self._losses, *names)
        if location := options.pop("location", None):
            options["user_location"] = {"type": "approximate", **location}
        return {**_WEB_SEARCH, **options}

    def _choice(self) -> Json:
        """Which tools may be called, and whether several at once; empty for nothing said."""
        choice, members = self._request.tool_choice, {}
        if choice is not None and choice.mode == "any" and not self._model.forced_tools:
            self._lose("tool_choice", "the model cannot be required to call a tool")
            members = {"type": "auto"}
        elif choice is not None and choice.mode == "any" and len(choice.names) == 1:
            members = {"type": "tool", "name": self._names.legal(choice.names[0])}
        elif choice is not None:
            members = {"type": choice.mode}
        if members.get("type") == "none" or self._request.parallel_calls is not False:
            return members
        return {"type": "auto", **members, "disable_parallel_tool_use": True}


def _called_tools(messages: list[Json]) -> Json:
    """The declarations of tools that were called before, which the vendor demands; they cannot be
    called again."""
    tools = {
        block["name"]: {"name": block["name"], "input_schema": NO_ARGUMENTS}
        for message in messages
        for block in blocks_of(message)
        if block["type"] == "tool_use"
    }
    return {"tools": list(tools.values()), "tool_choice": {"type": "none"}} if tools else {}


def blocks_of(message: Json) -> list[Json]:
    """The blocks of a written message, without those that are passed on as they came."""
    content = message["content"]
    if isinstance(content, str):
        return []
    return [block for block in content if isinstance(block, dict)]
