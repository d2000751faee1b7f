"""Strategies, which order the targets of a group for a request. ONE STRATEGY = ONE FILE, found by
its place; no other module names it. `get` says what its module defines.

A strategy without options is written as its name, `choose: least_busy`; one with options as a
mapping, `choose: {affinity: ...}`.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any, Protocol

from engine.config.json_schema import types_of
from engine.config.models import Choice
from engine.exchange.services import Services
from engine.spec.expression import Expression
from engine.upstream.target_groups import Strategy


class CompiledOptions(Protocol):
    """The options of a strategy: the `place` in requests that it reads, None for none, and whether
    it `reads_body`, which is then parsed."""

    @property
    def place(self) -> Expression | None: ...

    @property
    def reads_body(self) -> bool: ...


@cache
def names() -> list[str]:
    """The names of all strategies."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


@cache
def get(name: str) -> Any:
    """The module of a strategy, one of `names()`. It defines

    SCHEMA    the JSON Schema of its options
    build(options, services)
              the `Strategy` of one worker
    FORM      with options only: an example for hints
    read(options)
              with options only: the options compiled, as `CompiledOptions`. Raises ValueError for
              what a schema cannot express
    BY_PRICE  True: it compares prices
    BY_TIME   True: it needs the usage of responses
    """
    return importlib.import_module(f"{__name__}.{name}")


@cache
def forms() -> list[dict[str, Any]]:
    """The JSON Schemas of `choose`: a name, or a name with its options."""
    without = [name for name in names() if takes_no_options(name)]
    options = {name: get(name).SCHEMA for name in names() if name not in without}
    return [
        {"description": "A strategy without options.", "type": "string", "enum": without},
        {
            "description": "A strategy with its options.",
            "type": "object",
            "additionalProperties": False,
            "minProperties": 1,
            "maxProperties": 1,
            "properties": options,
        },
    ]


def takes_no_options(name: str) -> bool:
    """Whether a strategy is complete without options."""
    return "null" in types_of(get(name).SCHEMA)


def compiled(choice: Choice) -> CompiledOptions | None:
    """The options of a choice, None for a strategy without. Raises ValueError."""
    if takes_no_options(choice.strategy):
        return None
    options: CompiledOptions = get(choice.strategy).read(choice.options)
    return options


def reads_body(choice: Choice) -> bool:
    """Whether a strategy needs the parsed body of requests."""
    options = compiled(choice)
    return options is not None and options.reads_body


def compares(choice: Choice, attribute: str) -> bool:
    """Whether a strategy's module sets an attribute, `BY_PRICE` or `BY_TIME`, to True."""
    return bool(getattr(get(choice.strategy), attribute, False))


def build(services: Services, choice: Choice) -> Strategy:
    """The strategy that a config chooses, for one worker."""
    strategy: Strategy = get(choice.strategy).build(choice.options, services)
    return strategy
