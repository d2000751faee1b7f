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


def repair(library: Library, findings: Findings) -> None:
    """Repair every schema of a library; each repair is a warning."""
    repairable = [schema for schema in schemas(library, findings) if _ANY & schema.value.keys()]
    for schema in repairable:
        for kind in _KINDS:
            if kind.KEYS & schema.value.keys():
                kind.repair(schema)
    for schema in repairable:
        recursion.forget(schema)
    for key, item in library.document.get("paths").items():
        names = variables(path_keys.read(key).template)
        for method in METHODS if names else ():
            path_members.repair(item.get(method), names, findings)
