"""The optional steps of a request's way. One file, one policy.

A policy is a module here that defines `SCHEMA`, the JSON Schema of its options, and
`build(options, services)`, which makes its stage; nothing else names it.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any, Protocol, cast

from engine.exchange import Stage
from engine.services import Services


class Policy(Protocol):
    """What a module in this folder offers."""

    SCHEMA: dict[str, Any]

    def build(self, options: Any, services: Services) -> Stage: ...


def names() -> list[str]:
    """The policies there are."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def get(name: str) -> Policy:
    """The policy of that name, one of `names()`."""
    return cast(Policy, importlib.import_module(f"{__name__}.{name}"))
