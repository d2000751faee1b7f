"""Calls of tools without a server: the tool of a name, and the request that a call of it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.app.routes.internal_call import operation_of
from engine.config.mcp import McpServer
from engine.exchange.internal_request import Request
from engine.mcp.tool import Tool, tool_of
from engine.plan.plan import NamedRoute, Plan
from engine.source.suggestion import did_you_mean
from engine.values.errors import GatewayError

CODE = "invalid_arguments"
"""The code of the refusal of a call whose arguments are no call of the tool."""


def find_tool(plan: Plan, name: str) -> Tool:
    """The tool of this name, `NAME` or, if several servers have it, `SERVER/NAME`. Raises
    ValueError for an unknown one."""
    tools = [*_all(plan)]
    matches = [(s, tool) for s, tool in tools if name in (tool.name, f"{s.name}/{tool.name}")]
    if len(matches) == 1:
        return tool_of(plan, *matches[0])
    if matches:
        names = " or ".join(f"{server.name}/{tool.name}" for server, tool in matches)
        raise ValueError(f"several servers have a tool '{name}': write {names}")
    if not tools:
        none = "the config has no tools of operations; write them under mcp:"
        raise ValueError(f"unknown tool '{name}'" if plan.config.mcp else none)
    by_operation = [tool.name for _, tool in tools if tool.route.operation.id == name]
    hint = f"did you mean '{by_operation[0]}'?" if by_operation else ""
    hint = hint or did_you_mean(name, [tool.name for _, tool in tools])
    raise ValueError(f"unknown tool '{name}'; {hint or '`modelway tools` lists them'}")


def _all(plan: Plan) -> Iterator[tuple[McpServer, NamedRoute]]:
    for server in plan.config.mcp.values():
        yield from ((server, tool) for tool in plan.tools.get(server.name, ()))


def request_of(plan: Plan, tool: Tool, arguments: Mapping[str, Any], address: str) -> Request:
    """The request of a call of a tool, from this IP address. Raises InvalidArguments, and
    ValueError for values that the request cannot have."""
    writer = operation_of(plan, tool.route).writer
    parts = writer.write(tool.values(arguments))
    return Request(parts.method, parts.target, parts.headers, parts.body, address)


def refusal_of(error: ValueError) -> GatewayError:
    """The refusal of a call, as that of a request."""
    place, message = getattr(error, "place", ""), getattr(error, "message", str(error))
    return GatewayError(400, CODE, str(message), param=str(place))
