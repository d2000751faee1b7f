"""Reads an OpenAPI document from its files, with its overlays and the files that it refers to, and
repairs it: what one of the cache has behind it.

A start with cached documents does not import this module nor what only it needs, a third of the
modules of the room.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path as FilePath

from engine.source.problem import Findings
from engine.source.reader import SourceDocument
from engine.spec.document import overlay
from engine.spec.document.checks import misspelt_keys, unreadable_parts
from engine.spec.document.item_schemas import describe_items
from engine.spec.document.node import Library
from engine.spec.document.references import dynamic_references, reference_siblings
from engine.spec.document.references.absolute_references import check_references, remove_lost
from engine.spec.document.references.self_references import remove_self_references
from engine.spec.document.repairs.apply import repair
from engine.spec.document.swagger.conversion import convert

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
