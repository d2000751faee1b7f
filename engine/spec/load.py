"""Reads an OpenAPI document from its files, with its overlays and the files that it refers to, and
repairs it: what one of the cache has behind it. The repairs of schemas are found by their place.

A start with cached documents does not import this module nor what only it needs, a third of the
modules of the room.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from operator import attrgetter
from pathlib import Path as FilePath

from engine.source.problem import Findings, Path
from engine.source.reader import SourceDocument
from engine.spec.document import overlay
from engine.spec.document.checks import misspelt_keys, unreadable_parts
from engine.spec.document.node import Library, Node
from engine.spec.document.path_items import operations_of
from engine.spec.document.references import dynamic_references, reference_siblings
from engine.spec.document.references.absolute_references import check_references, remove_lost
from engine.spec.document.references.self_references import remove_self_references
from engine.spec.document.repairs import SchemaRepair, recursion, repeated_variables, schemas
from engine.spec.document.swagger.conversion import convert
from engine.values.discovery import Plugins
from engine.values.media_types import essence, sequence_kind

_VERSION = re.compile(r"3\.[012](?![0-9])")
_REPAIRS: Plugins[SchemaRepair] = Plugins(
    "engine.spec.document.repairs", "REPAIR", SchemaRepair, without=("repeated_variables",)
)


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
    if isinstance(version, float):  # 3.1, without quotes
        version = marked.value[key] = str(version)
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


def load_and_repair(
    file: FilePath, display_name: str, findings: Findings, overlays: Sequence[tuple[FilePath, str]]
) -> Library | None:
    """The files of a document, repaired; None if it has errors."""
    library = load(file, display_name, findings, overlays)
    if library is None:
        return None
    misspelt_keys.check(library, findings)
    if library.is_20:
        convert(library)
    repair(library, findings)
    if library.is_32:
        describe_items(library)
    references = remove_self_references(library, findings)
    walked = unreadable_parts.remove(library, findings)
    while findings.unsorted and not findings.errors and remove_lost(library, references, findings):
        walked = unreadable_parts.remove(library, findings)
    if findings.errors:
        return None
    reference_siblings.apply(walked, findings)
    return library


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


def describe_items(library: Library) -> None:
    """Describe each sequence that a request may have as an array, with its `itemSchema` for every
    item: a request is judged when all of it has arrived."""
    for item in [item for _, item in library.document.get("paths").items()]:
        for _, operation in operations_of(item):
            for name, media in operation.get("requestBody").get("content").items():
                if sequence_kind(essence(name)):
                    _describe(media)


def _describe(media: Node) -> None:
    item = media.literal("itemSchema")
    if not isinstance(item.value, dict | bool):
        return
    pointer = item.pointer
    ref = pointer if len(media.library.files) > 1 else pointer[pointer.index("#") :]
    array = {"type": "array", "items": {"$ref": ref}}
    schema = media.value.get("schema")
    if schema is None:
        media.value["schema"] = array
        _graft(media, ("schema",), ("itemSchema",))
    elif schema != array and not (isinstance(schema, dict) and array in schema.get("allOf", ())):
        media.value["schema"] = {"allOf": [schema, array]}
        _graft(media, ("schema", "allOf", 0), ("schema",))


def _graft(media: Node, new: Path, old: Path) -> None:
    """Give the value at `new` the place of the one that was at `old`."""
    library = media.library
    origin = library.origin(media.uri, (*media.path, *old))
    library.grafts.setdefault(media.uri, {})[*media.path, *new] = origin
