"""All repairs of a document, in their order."""

from __future__ import annotations

from engine.source.problem import Findings
from engine.spec.document.node import METHODS, Library
from engine.spec.document.repairs import (
    binary,
    bounds,
    discriminator,
    nullable,
    path_keys,
    path_members,
    recursion,
    required,
    schemas,
)
from engine.spec.path_templates import variables

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
    for key, item in library.document.get("paths").items():
        names = variables(path_keys.read(key).template)
        for method in METHODS if names else ():
            path_members.mend(item.get(method), names, findings)
