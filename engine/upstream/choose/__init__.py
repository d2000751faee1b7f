"""Strategies, which order the targets of a group for a request. ONE STRATEGY = ONE FILE, found by
its place; no other module names it: it defines `STRATEGY`, a value of `interface.py`.

A strategy without options is written as its name, `choose: least_busy`; one with options as a
mapping, `choose: {affinity: ...}`.
"""

from __future__ import annotations

from typing import Any

from engine.config.json_schema import Schema
from engine.config.models import Choice
from engine.exchange.stage_services import Services
from engine.upstream.choose.interface import CompiledOptions, StrategyKind
from engine.upstream.targets.target_groups import Strategy
from engine.values.discovery import Plugins
from engine.values.installed_plugins import STRATEGIES

KINDS: Plugins[StrategyKind[Any]] = Plugins(__name__, "STRATEGY", StrategyKind, group=STRATEGIES)


def names() -> list[str]:
    """The names of all strategies."""
    return KINDS.names()


def forms() -> list[Schema]:
    """The JSON Schemas of `choose`: a name, or a name with its options."""
    options = {name: KINDS.get(name).options for name in names()}
    return [
        {
            "description": "A strategy without options.",
            "type": "string",
            "enum": [name for name, value in options.items() if value is None],
        },
        {
            "description": "A strategy with its options.",
            "type": "object",
            "additionalProperties": False,
            "minProperties": 1,
            "maxProperties": 1,
            "properties": {
                name: value.schema for name, value in options.items() if value is not None
            },
        },
    ]


def kind_of(choice: Choice) -> StrategyKind[Any]:
    """The strategy that a config chooses."""
    return KINDS.get(choice.strategy)


def compiled(choice: Choice) -> CompiledOptions | None:
    """The options of a choice, None for a strategy without. Raises ValueError."""
    options = kind_of(choice).options
    if options is None:
        return None
    compiled_options: CompiledOptions = options.read(choice.options)
    return compiled_options


def reads_body(choice: Choice) -> bool:
    """Whether a strategy needs the parsed body of requests."""
    options = compiled(choice)
    return options is not None and options.reads_body


def build(services: Services, choice: Choice) -> Strategy:
    """The strategy that a config chooses, for one worker."""
    return kind_of(choice).build(compiled(choice), services)
