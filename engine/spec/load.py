"""Reading an OpenAPI document, with its overlays and the files that it refers to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path as FilePath

from engine.source.problem import Findings
from engine.source.reader import SourceDocument
from engine.spec.document import overlay
from engine.spec.document.node import Library
from engine.spec.document.references import dynamic_references
from engine.spec.document.references.absolute_references import check_references

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
