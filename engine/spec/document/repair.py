"""All repairs of a document. Those of schemas are found by their place in `repairs/`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

from engine.source.problem import Findings
from engine.spec.document import repairs
from engine.spec.document.node import METHODS, Library
from engine.spec.document.repairs import path_keys, path_members, recursion, schemas
from engine.spec.path_templates import variables


def repair(library: Library, findings: Findings) -> None:
    """Repair every schema of a library; each repair is a warning."""
    kinds = _schema_repairs()
    every_key = frozenset[str]().union(*(kind.KEYS for kind in kinds))
    repairable = [s for s in schemas(library, findings) if every_key & s.value.keys()]
    for schema in repairable:
        for kind in kinds:
            if kind.KEYS & schema.value.keys():
                kind.repair(schema)
    for schema in repairable:
        recursion.forget(schema)
    for key, item in library.document.get("paths").items():
        names = variables(path_keys.read(key).template)
        for method in METHODS if names else ():
            path_members.repair(item.get(method), names, findings)


@cache
def _schema_repairs() -> list[Any]:
    """The modules that repair schemas; those that move keywords to another schema are the last."""
    names = sorted(module.name for module in pkgutil.iter_modules(repairs.__path__))
    modules = [importlib.import_module(f"{repairs.__name__}.{name}") for name in names]
    repairs_of_schemas = [module for module in modules if hasattr(module, "KEYS")]
    return sorted(repairs_of_schemas, key=lambda module: hasattr(module, "MOVES_KEYWORDS"))
