"""Tools that clients do not take as they are, descriptions with instructions for models, and other
servers whose tools may change."""

from __future__ import annotations

from collections.abc import Iterable

from engine.config.mcp import McpServer
from engine.mcp.suspicions import ADDRESS, HIDDEN, INSTRUCTION, descriptions, suspicions
from engine.mcp.tool import MAX_OUTPUT_SCHEMA, Tool, tools_and_refusals
from engine.offline.check.audit import AuditCase
from engine.plan.plan import Plan, ToolUpstream
from engine.plan.tool_arguments import usable_name
from engine.plan.tool_names import MAX_NAME, prefix
from engine.plan.tool_servers import used_upstreams
from engine.source.problem import Findings, Level
from engine.spec.operation import Operation
from engine.values.units import format_count, format_names

_MAX_NAMED = 4


def check(case: AuditCase) -> None:
    for server in case.config.mcp.values():
        note_findings(case.plan, server, case.findings)
    note_servers(case.plan, case.findings)


def note_findings(plan: Plan, server: McpServer, findings: Findings) -> None:
    """Note the findings of the tools of a server."""
    tools, refusals = tools_and_refusals(plan, server)
    _note_names(server, tools, plan, findings)
    for operation, reason in refusals.items():
        route = next(r for r in plan.routes if r.operation.id == operation)
        message = f"{operation} is left out of the tools of '{server.name}': {reason}"
        _note(route.operation, Level.WARNING, "MW480", message, "", findings)
    _note_websockets(server, plan, findings)
    _note_adaptations(server, tools, plan, findings)
    _note_suspicions(tools, plan, findings)


def _note(
    operation: Operation, level: Level, code: str, message: str, hint: str, findings: Findings
) -> None:
    findings.note(operation.source, operation.at, level, code, message, hint, key=True)


def _note_names(server: McpServer, tools: Iterable[Tool], plan: Plan, findings: Findings) -> None:
    """Note names of the config that are too long with the prefix of clients."""
    for tool in tools:
        length = len(prefix(server.name)) + len(tool.name)
        changes = server.changes(tool.operation)
        if changes.name and length > MAX_NAME:
            message = f"'{prefix(server.name)}{tool.name}' has {length} characters"
            hint = (
                f"model vendors take {MAX_NAME}, and clients put the server's name before a tool's"
            )
            at = (*changes.at, "name")
            findings.note(plan.config.source, at, Level.WARNING, "MW482", message, hint)


def _note_websockets(server: McpServer, plan: Plan, findings: Findings) -> None:
    """Note operations of a wildcard that cannot be called as a tool."""
    operations = [route.operation for route in plan.routes if not route.operation.is_http]
    names = [operation.id for operation in operations if server.takes(operation.id)]
    if names:
        text = format_names(names, _MAX_NAMED)
        message = f"{format_count(len(names), 'WebSocket')} of these cannot be tools: {text}"
        at = (*server.at, "operations")
        findings.note(plan.config.source, at, Level.INFO, "MW480", message, key=True)


def _note_adaptations(
    server: McpServer, tools: Iterable[Tool], plan: Plan, findings: Findings
) -> None:
    """Note what was adapted or left out because known clients refuse it."""
    renames, without_schema = list[str](), list[str]()
    for tool in tools:
        changes = server.changes(tool.operation)
        wants_output = server.output_schemas if changes.output_schema is None else True
        if wants_output and changes.output_schema is not False and tool.output_schema is None:
            without_schema.append(tool.operation)
        for argument in tool.arguments.arguments.values():
            if argument.parameter != usable_name(argument.parameter):
                renames.append(f"{argument.parameter} of {tool.operation}")
    at = server.at
    if renames:
        message = f"arguments with characters that model vendors refuse: {_names_text(renames)}"
        hint = "they have _ in place of these, and the request has the name of the document"
        findings.note(plan.config.source, at, Level.INFO, "MW481", message, hint, key=True)
    if without_schema:
        message = f"no schema of the answer is listed for {_names_text(without_schema)}"
        hint = (
            "clients take only objects there, a tool without a JSON object has none, and one whose "
            f"parts have more than {MAX_OUTPUT_SCHEMA // 1000} KB would fill a model's context"
        )
        findings.note(plan.config.source, at, Level.INFO, "MW481", message, hint, key=True)


def _names_text(names: list[str]) -> str:
    return format_names(names, _MAX_NAMED)


def _note_suspicions(tools: Iterable[Tool], plan: Plan, findings: Findings) -> None:
    """Warn of descriptions in documents; what the config itself writes is the operator's."""
    addresses: dict[str, list[tuple[Operation, str]]] = {}
    for tool in tools:
        operation = tool.route.operation
        node = plan.specifications[operation.spec].node(operation)
        source_texts = (node.text("summary"), node.text("description"))
        texts = dict.fromkeys([*source_texts, *descriptions(tool.input_schema)])
        kinds: set[str] = set()
        for text in texts:
            for kind, part in suspicions(text):
                if kind in kinds:
                    continue
                kinds.add(kind)
                if kind == ADDRESS:
                    if text not in source_texts or part in tool.description:
                        addresses.setdefault(operation.spec, []).append((operation, part))
                    continue
                _note_suspicion(operation, kind, part, findings)
    for entries in addresses.values():
        operation, part = entries[0]
        names = _names_text([each.id for each, _ in entries])
        message = f"descriptions that models read have URLs, as '{part}': {names}"
        hint = "a model may open them; write `description` under `tools:` where that is no use"
        _note(operation, Level.WARNING, "MW484", message, hint, findings)


def _note_suspicion(operation: Operation, kind: str, part: str, findings: Findings) -> None:
    if kind == INSTRUCTION:
        message = f"the description of {operation.id} tells models what to do: '{part}'"
        hint = "read it; if it is no mistake, write another with `description` under `tools:`"
    else:
        assert kind == HIDDEN
        message = f"the description of {operation.id} has an invisible character, {part}"
        hint = "it is left out of the tool; correct it in the document, or with an overlay"
    _note(operation, Level.WARNING, "MW483", message, hint, findings)


def note_servers(plan: Plan, findings: Findings) -> None:
    """Note the findings of the MCP servers whose tools are listed."""
    for upstream in used_upstreams(plan):
        if upstream.pins is None:
            at = plan.config.upstreams[upstream.name].at
            message = f"the tools of '{upstream.name}' are not pinned: it may change them any time"
            hint = "write `pins: FILE`, then `modelway tools pin`"
            source = plan.config.source
            findings.note(source, (*at, "mcp"), Level.WARNING, "MW492", message, hint)
        else:
            _note_pinned(upstream, plan, findings)


def _note_pinned(upstream: ToolUpstream, plan: Plan, findings: Findings) -> None:
    at = (*plan.config.upstreams[upstream.name].at, "pins")
    for name, tool in (upstream.pins or {}).items():
        parts = {kind: part for text in descriptions(tool) for kind, part in suspicions(text)}
        for kind, part in parts.items():
            code = "MW484" if kind == ADDRESS else "MW483"
            message = f"the tool '{name}' of '{upstream.name}' has an {kind}: '{part}'"
            hint = 'read it; leave the tool out with `tools: ["!NAME"]` if it is no mistake'
            findings.note(plan.config.source, at, Level.WARNING, code, message, hint)
