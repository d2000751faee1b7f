"""A tool as clients list it, whatever it leads to (an operation, another MCP server, a model), and
its refusal of arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import orjson

from engine.metering.estimate import BYTES_PER_TOKEN
from engine.plan.route import Route
from engine.values.caller import Caller


class ListedTool(Protocol):
    """A tool of a server, whatever it leads to: `Tool`, `RemoteTool`, `ModelTool`. `operation` is
    what tokens allow, `route` the one whose guards a call has."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def input_schema(self) -> Mapping[str, Any]: ...

    @property
    def output_schema(self) -> Mapping[str, Any] | None: ...

    @property
    def annotations(self) -> Mapping[str, bool]: ...

    @property
    def operation(self) -> str: ...

    @property
    def route(self) -> Route: ...

    def for_caller(self, caller: Caller | None, /) -> ListedTool:
        """The tool as a caller sees it."""
        ...


def list_entry(tool: ListedTool) -> dict[str, Any]:
    """The entry of a tool in a list of MCP."""
    entry: dict[str, Any] = {"name": tool.name}
    if tool.title:
        entry["title"] = tool.title
    entry |= {"description": tool.description, "inputSchema": tool.input_schema}
    if tool.output_schema is not None:
        entry["outputSchema"] = tool.output_schema
    return entry | {"annotations": dict(tool.annotations)}


def context_tokens(tool: ListedTool) -> int:
    """About how many tokens the entry of a tool takes of a model's context."""
    return -(-len(orjson.dumps(list_entry(tool))) // BYTES_PER_TOKEN)


class InvalidArguments(ValueError):
    """Arguments that a tool refuses: the `place` of the mistake (`body.items[0].id`), "" for all of
    them, and a `message` for the model, a sentence."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.place = place
        self.message = message
