"""Tools of agents: what agents see of a server changes, or what a call sends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.config.mcp import McpServer
from engine.mcp.tool import Tool, tools_of
from engine.offline.diff.difference import Difference, Effect, Side
from engine.source.problem import Path
from engine.values.units import format_names

_MAX_NAMED = 4


def differences(old: Side, new: Side) -> Iterator[Difference]:
    before, after = old.config.mcp, new.config.mcp
    for name, server in before.items():
        if name not in after:
            message = f"agents no longer find the MCP server at {server.path}"
            yield _server(Effect.BREAKING, "tool-server-removed", old, server, message)
        else:
            yield from _of_server(server, after[name], old, new)
    for name, server in after.items():
        if name not in before:
            message = f"is a new MCP server at {server.path}"
            yield _server(Effect.ADDED, "tool-server-added", new, server, message)


def _server(
    effect: Effect, kind: str, side: Side, server: McpServer, message: str, at: Path = ()
) -> Difference:
    place = side.place(at or server.at, key=not at)
    return Difference(effect, kind, place, (f"mcp.{server.name}",), message)


def _of_server(was: McpServer, now: McpServer, old: Side, new: Side) -> Iterator[Difference]:
    if was.path != now.path:
        message = f"is at {now.path}, and was at {was.path}"
        at = (*now.at, "path")
        yield _server(Effect.BREAKING, "tool-server-moved", new, now, message, at)
    if was.search_above != now.search_above:
        message = f"agents search in place of a list above {now.search_above} tools, "
        message += f"and did above {was.search_above}"
        yield _server(Effect.CHANGED, "tool-search", new, now, message)
    before, after = _tools(was, old), _tools(now, new)
    names = {tool.operation: tool for tool in after.values()}
    for name, tool in before.items():
        if name in after and after[name].operation == tool.operation:
            yield from _of_tool(tool, after[name], now, new)
        elif tool.operation in names:
            other = names[tool.operation]
            message = f"the tool '{name}' is '{other.name}' now"
            yield _tool(Effect.BREAKING, "tool-renamed", other, now, new, message)
            yield from _of_tool(tool, other, now, new)
        else:
            message = f"is no longer the tool '{name}' of '{now.name}'"
            yield _tool(Effect.BREAKING, "tool-removed", tool, now, new, message)
    operations = {tool.operation for tool in before.values()}
    for name, tool in after.items():
        if tool.operation not in operations:
            message = f"is the tool '{name}' of '{now.name}' now"
            yield _tool(Effect.ADDED, "tool-added", tool, now, new, message)


def _tools(server: McpServer, side: Side) -> Mapping[str, Tool]:
    plan = side.plan_result.plan
    assert plan is not None
    return {tool.name: tool for tool in tools_of(plan, server)}


def _tool(
    effect: Effect, kind: str, tool: Tool, server: McpServer, side: Side, message: str
) -> Difference:
    changes = server.changes(tool.operation)
    place = side.place(changes.at or server.at, key=True)
    return Difference(effect, kind, place, (tool.operation,), message)


def _of_tool(was: Tool, now: Tool, server: McpServer, side: Side) -> Iterator[Difference]:
    name = now.name
    if was.title != now.title or was.description != now.description:
        message = f"models read another description of the tool '{name}'"
        yield _tool(Effect.CHANGED, "tool-description", now, server, side, message)
    yield from _of_arguments(was, now, server, side)
    if was.output_schema != now.output_schema:
        message = f"the listed schema of the answer of '{name}' is another one"
        yield _tool(Effect.CHANGED, "tool-output", now, server, side, message)
    yield from _of_values(was, now, server, side)
    reads, did_read = now.annotations["readOnlyHint"], was.annotations["readOnlyHint"]
    if reads != did_read:
        message = f"clients are told that '{name}' changes nothing, and call it without asking"
        if not reads:
            message = f"clients are no longer told that '{name}' changes nothing"
        effect = Effect.WEAKER if reads else Effect.CHANGED
        yield _tool(effect, "tool-hint", now, server, side, message)


def _of_arguments(was: Tool, now: Tool, server: McpServer, side: Side) -> Iterator[Difference]:
    """The change of what agents may and must give."""
    if was.input_schema == now.input_schema:
        return
    before, after = _required(was), _required(now)
    required = [argument for argument in after if argument not in before]
    removed = [n for n in was.input_schema["properties"] if n not in now.input_schema["properties"]]
    if required or removed:
        words = [f"needs {format_names(required, _MAX_NAMED)}"] if required else []
        words += [f"no longer takes {format_names(removed, _MAX_NAMED)}"] if removed else []
        message = f"the tool '{now.name}' {' and '.join(words)}"
        yield _tool(Effect.BREAKING, "tool-arguments", now, server, side, message)
    else:
        message = f"the schema of the arguments of '{now.name}' is another one"
        yield _tool(Effect.CHANGED, "tool-schema", now, server, side, message)


def _required(tool: Tool) -> tuple[Any, ...]:
    return tuple(tool.input_schema.get("required", ()))


def _of_values(was: Tool, now: Tool, server: McpServer, side: Side) -> Iterator[Difference]:
    """The change of values that are always sent; without one, agents choose."""
    before, after = _values(was), _values(now)
    for argument, value in before.items():
        if argument not in after:
            is_hidden = argument in now.arguments.hidden
            message = f"agents choose '{argument}' of '{now.name}', which was always {value!r}"
            if is_hidden:
                message = f"'{argument}' of '{now.name}' is no longer sent"
            effect = Effect.CHANGED if is_hidden else Effect.WEAKER
            yield _tool(effect, "tool-value-free", now, server, side, message)
        elif after[argument] != value:
            message = f"'{argument}' of '{now.name}' is always {after[argument]!r}, not {value!r}"
            yield _tool(Effect.CHANGED, "tool-value", now, server, side, message)
    for argument in after.keys() - before.keys():
        message = f"'{argument}' of '{now.name}' is always {after[argument]!r} now"
        yield _tool(Effect.CHANGED, "tool-value", now, server, side, message)


def _values(tool: Tool) -> dict[str, Any]:
    members = {f"body.{name}": value for name, value in tool.arguments.members.items()}
    return {**tool.arguments.values, **members}
