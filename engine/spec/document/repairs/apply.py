"""All repairs of a document. Those of schemas are found by their place."""

from __future__ import annotations

from functools import cache
from operator import attrgetter

from engine.source.problem import Findings
from engine.spec.document.node import Library
from engine.spec.document.repairs import SchemaRepair, recursion, repeated_variables, schemas
from engine.values.discovery import Plugins

_REPAIRS: Plugins[SchemaRepair] = Plugins(
    "engine.spec.document.repairs", "REPAIR", SchemaRepair, without=("apply", "repeated_variables")
)


def repair(library: Library, findings: Findings) -> None:
    """Repair every schema of a library; each repair is a warning."""
    kinds = _schema_repairs()
    every_key = frozenset[str]().union(*(kind.keys for kind in kinds))
    repairable = list(schemas(library, findings, every_key))
    for schema in repairable:
        value = schema.value
        for kind in kinds:
            if not kind.keys.isdisjoint(value):
                kind.repair(schema)
    for schema in repairable:
        recursion.remove_anchors(schema)
    repeated_variables.make_optional(library, findings)


@cache
def _schema_repairs() -> list[SchemaRepair]:
    """The repairs of schemas, in the order in which they run."""
    return sorted(_REPAIRS.all(), key=attrgetter("turn"))
