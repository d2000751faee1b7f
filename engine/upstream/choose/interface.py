"""The type of a strategy: each file of this folder defines `STRATEGY`, a value of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from engine.config.json_schema import Schema
from engine.exchange.stage_services import Services
from engine.spec.expression import Expression
from engine.upstream.targets.target_groups import Strategy


class CompiledOptions(Protocol):
    """The options of a strategy: the `expression` of the value that it reads in requests, None for
    none, and whether it `reads_body`, which is then parsed."""

    @property
    def expression(self) -> Expression | None: ...

    @property
    def reads_body(self) -> bool: ...


Options = TypeVar("Options", bound=CompiledOptions | None)


class StrategyOptions(Struct, Generic[Options], frozen=True, kw_only=True, eq=False):
    """The options of a strategy: their JSON Schema with a description, an example of the form in
    gateway.yaml for hints, and `read`, which compiles them. It raises ValueError for what a schema
    cannot express."""

    schema: Schema
    form: str
    read: Callable[[Any], Options]


class StrategyKind(Struct, Generic[Options], frozen=True, kw_only=True, eq=False):
    """A strategy that a config may choose.

    `build` makes the strategy of one worker from its compiled options, None for a strategy without
    `options`. `by_price`: it compares prices. `by_time`: it needs the usage of responses.
    """

    build: Callable[[Options, Services], Strategy]
    options: StrategyOptions[Options] | None = None
    by_price: bool = False
    by_time: bool = False
