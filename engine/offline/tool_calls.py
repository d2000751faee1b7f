"""Calls of tools without a server: the tool of a name, and the request that a call of it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.app.internal_call import operation_of
from engine.config.mcp import McpServer
from engine.exchange.request import Request
from engine.plan.route import NamedRoute, Plan
from engine.source.suggestion import did_you_mean
from engine.tools.tool import Tool, tool_of
from engine.values.errors import GatewayError

CODE = "invalid_arguments"
"""The code of the refusal of a call whose arguments are no call of the tool."""


def find_tool(plan: Plan, name: str) -> Tool:
    """The tool of this name, `NAME` or, if several servers have it, `SERVER/NAME`. Raises
    ValueError for an unknown one."""
    found = [
        (s, named) for s, named in _all(plan) if name in (named.name, f"{s.name}/{named.name}")
    ]
    if len(found) == 1:
        return tool_of(plan, *found[0])
    if found:
        names = " or ".join(f"{server.name}/{named.name}" for server, named in found)
        raise ValueError(f"several servers have a tool '{name}': write {names}")
    known = [named.name for _, named in _all(plan)]
    if not known:
        none = "the config has no tools of operations; write them under mcp:"
        raise ValueError(f"unknown tool '{name}'" if plan.config.mcp else none)
    by_operation = [n.name for _, n in _all(plan) if n.route.operation.id == name]
    hint = f"did you mean '{by_operation[0]}'?" if by_operation else did_you_mean(name, known)
    raise ValueError(f"unknown tool '{name}'; {hint or '`modelway tools` lists them'}")


def _all(plan: Plan) -> Iterator[tuple[McpServer, NamedRoute]]:
    for server in plan.config.mcp.values():
        yield from ((server, named) for named in plan.tools.get(server.name, ()))


def request_of(plan: Plan, tool: Tool, arguments: Mapping[str, Any], address: str) -> Request:
    """The request of a call of a tool, from this IP address. Raises InvalidArguments, and
    ValueError for values that the request cannot have."""
    writer = operation_of(plan, tool.route).writer
    written = writer.write(tool.values(arguments))
    return Request(written.method, written.target, written.headers, written.body, address)


def refusal_of(error: ValueError) -> GatewayError:
    """The refusal of a call, as that of a request."""
    place, message = getattr(error, "place", ""), getattr(error, "message", str(error))
    return GatewayError(400, CODE, str(message), param=str(place))
