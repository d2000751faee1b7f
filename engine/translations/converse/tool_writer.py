"""Tools and which of them must be called -> `toolConfig`.

A model that takes no schema of its answer gets it as the schema of a tool which it must call.
"""

from __future__ import annotations

from engine.translations.anthropic_parameters import strict_schema
from engine.translations.converse.content_writer import cache_point
from engine.translations.converse.fields import Json
from engine.translations.converse.models import Model
from engine.translations.neutral.answer_tool import answer_tool_description, answer_tool_name
from engine.translations.neutral.arguments import NO_ARGUMENTS, arguments_schema
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.names import ToolNames
from engine.translations.neutral.request import ChatRequest, Tool


class ToolWriter:
    """Writes the tools of one request, as this model accepts them."""

    def __init__(
        self, request: ChatRequest, names: ToolNames, model: Model, losses: Losses
    ) -> None:
        self._request, self._names, self._model = request, names, model
        self._losses = losses

    def write(self, messages: list[Json]) -> Json:
        """The value of `toolConfig` for a conversation of these written messages, empty for none.
        The vendor demands the tools that were called before; it cannot forbid a call of them."""
        choice, called = self._request.tool_choice, _called(messages)
        forbidden = choice is not None and choice.mode == "none"
        if forbidden and called and self._functions():
            self._lose("tool_choice", "calls cannot be forbidden once there were some")
        tools: list[Json] = []
        for tool in () if forbidden and not called else self._functions():
            tools.append(self._tool(tool))
            if tool.cache and "tools" in self._model.caches:
                tools.append(cache_point(tool.cache))
        if not tools:
            return {"tools": called} if called else {}
        config: Json = {"tools": tools}
        if demand := self._choice():
            config["toolChoice"] = demand
        return config

    def add_answer_tool(self, config: Json) -> str:
        """Add the tool whose arguments are the answer, and demand that it or another one is called.
        Returns its name, "" where no text is answered, since a call is demanded anyway."""
        choice, output = self._request.tool_choice, self._request.output
        assert output is not None
        if choice is not None and choice.mode == "any":
            return ""
        tools = config.get("tools", [])
        name = answer_tool_name({o["toolSpec"]["name"] for o in tools if "toolSpec" in o})
        tool = {"name": name, "description": answer_tool_description(output)}
        may_call = bool(self._functions()) and (choice is None or choice.mode != "none")
        config["tools"] = [*tools, {"toolSpec": {**tool, "inputSchema": {"json": output.schema}}}]
        config["toolChoice"] = {"any": {}} if may_call else {"tool": {"name": name}}
        return name

    def lose_others(self) -> None:
        """Note the tools that other vendors run."""
        for tool in self._request.tools:
            if not isinstance(tool, Tool):
                reason = f"the tool '{tool.name}' is run by another vendor"
                self._losses.add(tool.place, reason)

    def _functions(self) -> list[Tool]:
        """The tools that may be called: where a choice cannot name them, others are left out."""
        tools = [tool for tool in self._request.tools if isinstance(tool, Tool)]
        choice = self._request.tool_choice
        if choice is None or not choice.names or (choice.mode == "any" and len(choice.names) == 1):
            return tools
        allowed = frozenset(choice.names)
        return [tool for tool in tools if tool.name in allowed]

    def _tool(self, tool: Tool) -> Json:
        spec: Json = {"name": self._names.legal(tool.name)}
        if tool.description.strip():
            spec["description"] = tool.description
        schema = strict_schema(tool, self._model.parameters, self._losses)
        spec["inputSchema"] = {"json": schema or arguments_schema(tool)}
        if schema is not None:
            spec["strict"] = True
        return {"toolSpec": spec}

    def _choice(self) -> Json:
        choice = self._request.tool_choice
        if choice is None or choice.mode != "any":
            return {}
        if not self._model.parameters.forced_tools:
            self._lose("tool_choice", "the model chooses itself whether to call")
            return {}
        if len(choice.names) == 1:
            return {"tool": {"name": self._names.legal(choice.names[0])}}
        return {"any": {}}

    def _lose(self, field: str, reason: str) -> None:
        self._losses.add(self._request.place_of(field), reason)


def _called(messages: list[Json]) -> list[Json]:
    """The declarations of the tools that were called before."""
    names = {
        block["toolUse"]["name"]: None
        for message in messages
        for block in message["content"]
        if "toolUse" in block
    }
    return [{"toolSpec": {"name": o, "inputSchema": {"json": NO_ARGUMENTS}}} for o in names]
