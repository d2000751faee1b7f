"""Reading an OpenAPI document, the overlays on it, and the files it refers to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath

from engine.source.problem import Findings
from engine.source.reader import SourceDocument
from engine.spec.document import overlay
from engine.spec.document.node import Library
from engine.spec.document.references import check_references


def load(
    path: FilePath,
    display_name: str,
    findings: Findings,
    overlays: Sequence[tuple[FilePath, str]] = (),
) -> Library | None:
    """Read a document and every file it refers to; None when it is not an OpenAPI document.

    `overlays` are files with the names to show for them; they are applied in order. A reference
    that leads nowhere is a warning and a breach of the library: it is removed.
    """
    library = Library(path.resolve())
    marked = library.open(library.root, display_name)
    findings.take(marked)
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
    check_references(library, findings)
    return library


def _check_version(marked: SourceDocument, findings: Findings) -> None:
    version = marked.value.get("openapi")
    if isinstance(version, str) and version.startswith(("3.0", "3.1")):
        return
    cause = f"'openapi' is {version!r}" if "openapi" in marked.value else "no 'openapi' key"
    hint = "convert Swagger 2.0 to OpenAPI 3 first" if "swagger" in marked.value else ""
    message = f"not OpenAPI 3.0 or 3.1: {cause}"
    findings.error(marked, ("openapi",), "MW201", message, hint, key=True)
