"""A token or an allow list that names operations which no route serves: often a typo."""

from __future__ import annotations

from engine.offline.check.audit import AuditCase
from engine.plan.assembly.assign_operations import operation_hint
from engine.plan.plan import ToolUpstream
from engine.source.problem import Path
from engine.values.wildcard import matches


def check(case: AuditCase) -> None:
    for policy in case.listed_policies:
        if policy.name == "allow_operations":
            for index, name in enumerate(policy.options):
                _check(case, name, (*policy.at, index))
    for caller, at in case.config.callers():
        for index, name in enumerate(caller.operations or ()):
            _check(case, name, (*at, "operations", index))
    for team in case.config.teams.by_name.values():
        for index, name in enumerate(team.operations or ()):
            _check(case, name, ("teams", team.name, "operations", index))


def _check(case: AuditCase, name: str, at: Path) -> None:
    specifications = case.plan.specifications.values()
    served = [route.operation.id for route in case.plan.routes]
    refused = [f"{spec.name}.{each}" for spec in specifications for each in spec.refusals]
    if any(matches(operation, name) for operation in (*served, *refused)):
        return
    if any(_is_of(name, upstream) for upstream in case.plan.tool_upstreams.values()):
        return
    operations = {op.id: op for spec in specifications for op in spec.operations.values()}
    if any(matches(operation, name) for operation in operations):
        message, hint = f"no route serves '{name}'", "add a route, or remove it"
    else:
        message = f"'{name}' matches no operation"
        hint = operation_hint(name, operations, case.config)
    case.warn(at, "MW472", message, hint)


def _is_of(name: str, upstream: ToolUpstream) -> bool:
    """Whether a pattern may name a tool of another MCP server: which it has is known of pinned ones
    only."""
    if upstream.pins is None:
        return matches(upstream.name, name.partition(".")[0])
    return any(matches(f"{upstream.name}.{tool}", name) for tool in upstream.pins)
