"""Routes to operations that keep objects, in a config that seals no ids: every token reaches what
another one has made."""

from __future__ import annotations

from engine.objects.facts import EXTENSION
from engine.offline.check.audit import AuditCase
from engine.plan.route import Route


def check(case: AuditCase) -> None:
    if case.config.objects.ring:
        return
    keeping = [route for route in case.plan.routes if _keeps_objects(case, route)]
    if keeping:
        first, more = keeping[0], len(keeping) - 1
        others = f" and {more} more operations" if more else ""
        message = f"{first.operation.id}{others}: every token reaches what another has made"
        hint = "write objects: {key: ${OBJECT_KEY}}, which seals their ids"
        case.warn(first.at, "MW491", message, hint)


def _keeps_objects(case: AuditCase, route: Route) -> bool:
    """Whether requests name an object in their path: what is read, changed or deleted by its id."""
    operation = route.operation
    facts = case.plan.specifications[operation.spec].node(operation).get(EXTENSION).value
    by_config = case.config.specs[operation.spec].objects.get(operation.name)
    operations = by_config or facts
    names = operations.get("names") if isinstance(operations, dict) else None
    return isinstance(names, dict) and "path." in str(names)
