"""All repairs of a document's schemas, in their order."""

from __future__ import annotations

from engine.problem import Findings
from engine.spec.library import Library
from engine.spec.repairs import (
    binary,
    bounds,
    discriminator,
    nullable,
    recursion,
    required,
    schemas,
)

_KINDS = (required, bounds, nullable, binary, recursion, discriminator)
_ANY = frozenset[str]().union(*(kind.KEYS for kind in _KINDS))


def mend(library: Library, findings: Findings) -> None:
    """Mend every schema of a library whose meaning is clear; each mend is a warning."""
    found = [schema for schema in schemas(library, findings) if _ANY & schema.value.keys()]
    for schema in found:
        for kind in _KINDS:
            if kind.KEYS & schema.value.keys():
                kind.mend(schema)
    for schema in found:
        recursion.forget(schema)
