"""What stages share, passed in once when the application is built."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from engine.exchange.exchange import Observer
from engine.values.caller import Caller
from engine.values.client_address import Network
from engine.values.counters import Counters
from engine.values.guess_limit import GuessLimit
from engine.values.metric import Collector
from engine.values.usage import Price
from engine.values.wildcard import ByName

log = logging.getLogger("modelway")


class Lookup(Protocol):
    """Where callers are found."""

    def get(self, digest: str, /) -> Caller | None: ...


class HealthCheck(Protocol):
    """The state of one store; `error` is why it cannot be reached, "" when it can."""

    error: str

    def refresh(self) -> None:
        """Probe the store, unless that was done a moment ago."""


class WorkerHealth(Protocol):
    """Whether the worker can serve (see `telemetry/health.py`)."""

    @property
    def checks(self) -> Mapping[str, HealthCheck]:
        """The stores of the worker by name."""
        ...

    def stop(self) -> None:
        """The worker shuts down."""

    def ready(self) -> bool:
        """Probe the stores, and return whether the worker can serve."""
        ...

    def details(self, ready: bool, now: float) -> dict[str, Any]:
        """What operators are shown; `now` in Unix seconds."""
        ...


@dataclass(frozen=True, slots=True)
class Services:
    """`clock` gives Unix seconds, `dice` a number from 0 up to 1, `tokens` callers by digest,
    `guesses` how many unknown tokens a client has tried.

    `counters` count what is limited; `allow_uncounted` lets requests pass that they cannot count.
    `prices` are per model, in `currency`. `begin` is told of the beginning of each
    exchange, `observers` of its end. `proxies` are the networks whose X-Forwarded-For is believed.

    `collectors` sample the gauges, `page` returns the text of all metrics, where there are any;
    `health` tells whether the worker is ready.
    """

    tokens: Lookup = field(default_factory=dict[str, Caller])
    guesses: GuessLimit = field(default_factory=GuessLimit)
    clock: Callable[[], float] = time.time
    dice: Callable[[], float] = random.random
    counters: Counters | None = None
    allow_uncounted: bool = True
    prices: ByName[Price] = field(default_factory=lambda: ByName({}))
    currency: str = "USD"
    begin: Observer | None = None
    observers: Sequence[Observer] = ()
    proxies: tuple[Network, ...] = ()
    collectors: list[Collector] = field(default_factory=list)
    page: Callable[[], bytes] | None = None
    health: WorkerHealth | None = None
    closing: Sequence[Callable[[], None]] = ()

    def close(self) -> None:
        """The worker ends: close what was opened, last in first out. What fails is logged."""
        for close in reversed(self.closing):
            try:
                close()
            except Exception:
                log.exception("a part of the worker was not closed")
