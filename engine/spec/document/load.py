"""Reading and repairing an OpenAPI document, with its overlays and the files that it refers to.
The repairs of schemas are found by their place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from operator import attrgetter
from pathlib import Path as FilePath

from engine.source.problem import Findings
from engine.source.reader import SourceDocument
from engine.spec.document import dynamic_references, overlay
from engine.spec.document.node import Library
from engine.spec.document.path_items import operations_of
from engine.spec.document.references import check_references
from engine.spec.document.repairs import (
    SchemaRepair,
    path_keys,
    path_members,
    recursion,
    schemas,
)
from engine.spec.path_templates import variables
from engine.values.discovery import Plugins

_REPAIRS: Plugins[SchemaRepair] = Plugins(
    "engine.spec.document.repairs", "REPAIR", SchemaRepair, without=("path_keys", "path_members")
)
_VERSION = re.compile(r"3\.[012](?![0-9])")


def load(
    path: FilePath,
    display_name: str,
    findings: Findings,
    overlays: Sequence[tuple[FilePath, str]] = (),
) -> Library | None:
    """Read a document and every file it refers to; None if it is not an OpenAPI document.

    `overlays` are paths with display names, applied in order. A reference without a target is
    removed, with a warning.
    """
    library = Library(path.resolve())
    marked = library.open(library.root, display_name)
    findings.add_source(marked)
    if marked.problems:
        return None
    if not isinstance(marked.value, dict):
        findings.error(marked, (), "MW201", "not an OpenAPI document: a mapping was expected")
        return None
    before = len(findings.errors)
    for file, name in overlays:
        overlay.apply(library, file, name, findings)
    _check_version(marked, findings)
    if len(findings.errors) > before:
        return None
    names = check_references(library, findings)
    dynamic_references.replace(library, names, findings)
    names.remove_names()
    return library


def _check_version(marked: SourceDocument, findings: Findings) -> None:
    version, key = marked.value.get("openapi"), "openapi"
    if isinstance(version, str) and _VERSION.match(version):
        return
    if "openapi" not in marked.value and "swagger" in marked.value:
        version, key = marked.value["swagger"], "swagger"
        if str(version) == "2.0":
            return
    cause = f"'{key}' is {version!r}" if key in marked.value else "no 'openapi' key"
    hint = "its first line is, for example, `openapi: 3.1.0`" if version is None else ""
    message = f"not OpenAPI 3.0 to 3.2 or Swagger 2.0: {cause}"
    findings.error(marked, (key,), "MW201", message, hint, key=True)


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
            path_members.repair(operation, names, findings)


@cache
def _schema_repairs() -> list[SchemaRepair]:
    """The repairs of schemas, in the order in which they run."""
    return sorted(_REPAIRS.all(), key=attrgetter("turn"))
