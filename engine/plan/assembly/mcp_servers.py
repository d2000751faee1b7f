"""MCP servers: which operations are their tools, under which names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.config.config import Config
from engine.config.mcp import EXCEPT, McpServer, ToolConfig
from engine.plan.assembly.assign_operations import operation_hint
from engine.plan.plan import NamedRoute
from engine.plan.route import Route, by_operation
from engine.plan.tool_names import longest, shortened, tool_name
from engine.source.problem import Findings, Level, Path, place_of
from engine.spec.operation import Operation
from engine.spec.spec import Specification
from engine.values.wildcard import matches


def read_servers(
    config: Config,
    specifications: Mapping[str, Specification],
    routes: Sequence[Route],
    findings: Findings,
) -> dict[str, tuple[NamedRoute, ...]]:
    """The routes that are tools of each server, in the order of their names."""
    operations = {op.id: op for spec in specifications.values() for op in spec.operations.values()}
    is_complete = len(specifications) == len(config.specs) and not config.invalid.names
    for server in config.mcp.values():
        _check_path(server, config, routes, findings)
        if is_complete:
            _check_patterns(server, config, operations, routes, findings)
    return {server.name: _tools(server, config, routes, findings) for server in config.mcp.values()}


@dataclass(slots=True)
class _Candidate:
    """A route that is a tool, with the changes of it, and its name once that is known."""

    route: Route
    changes: ToolConfig
    name: str = ""


def _tools(
    server: McpServer, config: Config, routes: Sequence[Route], findings: Findings
) -> tuple[NamedRoute, ...]:
    """The tools of a server. Names of the config come first, then those of operations, by id."""
    candidates = sorted(_candidates(server, routes), key=lambda each: each.route.operation.id)
    names: dict[str, _Candidate] = {}
    for candidate in candidates:
        if name := candidate.changes.name:
            candidate.name = name
            first = names.setdefault(name.lower(), candidate)
            if first is not candidate:
                message = f"two tools named '{name}'"
                hint = f"the other is {first.route.operation.id}"
                at = (*candidate.changes.at, "name")
                findings.error(config.source, at, "MW336", message, hint)
    for candidate in candidates:
        if not candidate.name:
            _name(candidate, server, names, config, findings)
    tools = (NamedRoute(each.name, each.route, each.changes) for each in candidates)
    return tuple(sorted(tools, key=lambda tool: tool.name))


def _candidates(server: McpServer, routes: Sequence[Route]) -> Iterator[_Candidate]:
    """The routes that a server lists, one for each operation; what is a WebSocket alone is no
    tool."""
    for route in by_operation(routes).values():
        operation = route.operation
        if operation.is_http and server.takes(operation.id):
            changes = server.changes(operation.id)
            if not changes.hide:
                yield _Candidate(route, changes)


def _name(
    candidate: _Candidate,
    server: McpServer,
    names: dict[str, _Candidate],
    config: Config,
    findings: Findings,
) -> None:
    """Name a tool after its operation; after its document too, if the name is taken."""
    operation, most = candidate.route.operation, longest(server.name)
    name = tool_name(operation.name, most)
    if (first := names.get(name.lower())) is not None:
        plain, name = name, tool_name(operation.id, most)
        if name.lower() in names:
            name = shortened(f"{name}_", operation.id, most)
        message = f"{operation.id} is the tool '{name}': {first.route.operation.id} is '{plain}'"
        hint = f"write `tools: {{{operation.id}: {{name: ...}}}}` for a name of your choice"
        at = (*server.at, "operations")
        findings.note(config.source, at, Level.WARNING, "MW337", message, hint, key=True)
    candidate.name = name
    names[name.lower()] = candidate


def _check_path(
    server: McpServer, config: Config, routes: Sequence[Route], findings: Findings
) -> None:
    """Note a path that another server, a page or an operation has."""
    at, path = (*server.at, "path"), server.path.rstrip("/")
    for other in config.mcp.values():
        if other is server:
            break
        if other.path.rstrip("/") == path:
            hint = f"that of '{other.name}' is at {place_of(config.source, (*other.at, 'path'))}"
            findings.error(config.source, at, "MW338", f"two servers at {path}", hint)
    if path.endswith("/sse"):
        hint = "write another path, for example /mcp; clients speak the transport of 2024 there"
        findings.error(config.source, at, "MW338", f"'{server.path}' ends in /sse", hint)
    page = config.console.page_at(path)
    if page or path in config.telemetry.public_pages:
        message = f"{path} is the path of the gateway's {page or 'own page'}"
        findings.error(config.source, at, "MW338", message, "write another path")
    for route in routes:
        if any(template == path for template, _ in route.templates):
            message = f"{path} is the path of {route.operation.id}"
            findings.error(config.source, at, "MW338", message, "write another path")
            return


def _check_patterns(
    server: McpServer,
    config: Config,
    operations: Mapping[str, Operation],
    routes: Sequence[Route],
    findings: Findings,
) -> None:
    """Note names and wildcards that match nothing, and changes of what is no tool."""
    served = {route.operation.id: route.operation for route in routes}
    for pattern, at in server.operations:
        _check_pattern(pattern, at, config, operations, served, findings)
    tools = [name for name in served if server.takes(name)]
    for pattern, entry in server.tools.items():
        if not any(matches(name, pattern) for name in tools):
            message = f"'{pattern}' is not an operation of this server"
            hint = operation_hint(pattern, {name: served[name] for name in tools}, config)
            findings.error(config.source, entry.at, "MW335", message, hint, key=True)
        elif "*" in pattern:
            for key in ("name", "title", "description"):
                if getattr(entry, key):
                    message = f"'{key}' is not for a wildcard, because tools would share it"
                    hint = "write the name of an operation"
                    findings.error(config.source, (*entry.at, key), "MW335", message, hint)


def _check_pattern(
    pattern: str,
    at: Path,
    config: Config,
    operations: Mapping[str, Operation],
    served: Mapping[str, Operation],
    findings: Findings,
) -> None:
    """Note a name or wildcard that matches no served operation."""
    is_excluded = pattern.startswith(EXCEPT)
    pattern = pattern.removeprefix(EXCEPT)
    candidates = [operations[name] for name in served if matches(name, pattern)]
    if candidates and not candidates[0].is_http and "*" not in pattern and not is_excluded:
        message = f"{pattern} is a WebSocket, which cannot be a tool"
        findings.error(config.source, at, "MW335", message, "remove it")
    if candidates:
        return
    if any(matches(name, pattern) for name in operations):
        message, hint = f"no route serves '{pattern}'", "add it to a route"
    elif "*" in pattern:
        message = f"'{pattern}' matches no operation"
        hint = operation_hint(pattern, operations, config)
    else:
        message = f"unknown operation '{pattern}'"
        hint = operation_hint(pattern, operations, config)
    findings.error(config.source, at, "MW335", message, hint)
