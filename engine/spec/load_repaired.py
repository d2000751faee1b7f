"""Reading a document from its files, and repairing it: what one of the cache has behind it.

A start with cached documents does not import this module nor what only it needs, a third of the
room's modules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath

from engine.source.problem import Findings
from engine.spec.document.checks import misspelt_keys, unreadable_parts
from engine.spec.document.item_schemas import describe_items
from engine.spec.document.node import Library
from engine.spec.document.references import reference_siblings
from engine.spec.document.references.absolute_references import remove_lost
from engine.spec.document.references.self_references import remove_self_references
from engine.spec.document.repairs.apply import repair
from engine.spec.document.swagger.conversion import convert
from engine.spec.load import load


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
