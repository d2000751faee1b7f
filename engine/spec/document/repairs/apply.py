"""All repairs of a document. Those of schemas are found by their place."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from operator import attrgetter

from engine.source.problem import Findings, Level
from engine.spec.document import path_keys
from engine.spec.document.node import Library, Node
from engine.spec.document.path_items import operations_of
from engine.spec.document.path_templates import variables
from engine.spec.document.repairs import SchemaRepair, recursion, schemas
from engine.values.discovery import Plugins

_REPAIRS: Plugins[SchemaRepair] = Plugins(
    "engine.spec.document.repairs", "REPAIR", SchemaRepair, without=("apply",)
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
    for key, item in library.document.get("paths").items():
        names = variables(path_keys.read(key).template)
        for _, operation in operations_of(item) if names else ():
            _repair_body(operation, names, findings)


@cache
def _schema_repairs() -> list[SchemaRepair]:
    """The repairs of schemas, in the order in which they run."""
    return sorted(_REPAIRS.all(), key=attrgetter("turn"))


def _repair_body(operation: Node, names: Collection[str], findings: Findings) -> None:
    """Make a property of a JSON body optional if a variable of the path has its name: SDKs do not
    send it again (Google's `model`)."""
    for media_type, media in operation.get("requestBody").get("content").items():
        schema = media.get("schema")
        value = schema.value
        if "json" not in media_type or not isinstance(value, dict):
            continue
        required, properties = value.get("required"), value.get("properties")
        if not isinstance(required, list) or not isinstance(properties, dict):
            continue
        for name in names:
            if name in required and name in properties:
                schema.value["required"] = [each for each in required if each != name]
                if not schema.value["required"]:
                    del schema.value["required"]
                required = schema.value.get("required", [])
                at = (*schema.path, "required")
                message = f"the body requires '{name}', which is in the path; the body may omit it"
                source = schema.library.source(schema.uri, at)
                findings.note(source, at, Level.WARNING, "MW229", message, key=True)
