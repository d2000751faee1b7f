"""Strategies: which target of a group is asked first, and which after it. ONE STRATEGY = ONE FILE.

A strategy is a module here, found by its place; no other module names it. It defines `SCHEMA`, the
JSON Schema of its options, and `build(options, services)`, which returns its `Picks` for one
worker. A strategy without options is written as its name alone, `choose: least_busy`; one with
options as a mapping, `choose: {affinity: ...}`.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

from engine.config.models import Choice
from engine.exchange.services import Services
from engine.upstream.target_groups import Picks


@cache
def names() -> list[str]:
    """The strategies there are."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


@cache
def get(name: str) -> Any:
    """The module of that strategy, one of `names()`."""
    return importlib.import_module(f"{__name__}.{name}")


def build(services: Services, choice: Choice) -> Picks:
    """The strategy that a config chooses, for one worker."""
    picks: Picks = get(choice.strategy).build(choice.options, services)
    return picks
