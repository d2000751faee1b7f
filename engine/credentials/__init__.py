"""The credentials that the gateway sends to upstreams. One file is one kind of credential, found
by its place (`get`); no other module names it. The packages here are not kinds. Read
`interface/credential.py` first.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from typing import Any

from engine.credentials.interface.context import Context
from engine.credentials.interface.credential import Credential

__all__ = ["Context", "Credential", "get", "names", "read", "schema"]


@cache
def names() -> list[str]:
    """The names of all kinds."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg)


@cache
def get(name: str) -> Any:
    """The module of that kind, one of `names()`. It defines

    FORM      the form in gateway.yaml, for hints: `{bearer: ...}`
    SCHEMA    the JSON Schema of the value under the kind's name
    MORE_KEYS
              the schemas of other required keys, if it has any
    read(section, context)
              the credential of a valid section as a value, a `Credential`; problems go to the
              context
    """
    return importlib.import_module(f"{__name__}.{name}")


def read(section: Mapping[str, Any], context: Context) -> Credential | None:
    """The credential that a section matching `schema()` describes; None, with a problem in the
    context, unless it has exactly the keys of one kind."""
    kinds = [name for name in names() if name in section]
    if len(kinds) != 1 or len(section) != 1 + len(_more_keys(kinds[0])):
        hint = f"write the keys of one kind: {', '.join(names())}"
        context.error((), "a credential has one form", hint)
        return None
    credential: Credential | None = get(kinds[0]).read(section, context)
    return credential


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of `credential`, with the keys of all kinds."""
    properties: dict[str, Any] = {}
    for name in names():
        properties |= {name: get(name).SCHEMA, **_more_keys(name)}
    return {
        "description": "How the gateway authenticates itself to the upstream, in one of these "
        f"forms: {', '.join(get(name).FORM for name in names())}.",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "minProperties": 1,
        "dependentRequired": {name: [*_more_keys(name)] for name in names() if _more_keys(name)},
        "x-modelway": {"secret": "value"},
    }


def _more_keys(name: str) -> Mapping[str, Any]:
    """The schemas of the other required keys of a kind."""
    schemas: Mapping[str, Any] = getattr(get(name), "MORE_KEYS", {})
    return schemas
