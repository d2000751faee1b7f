"""What stages share, passed in once when the application is built."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from engine.exchange import Observer
from engine.guesses import GuessLimit
from engine.network import Network
from engine.stores.counters import Counters
from engine.telemetry.health import Health
from engine.telemetry.names import Read
from engine.tokens import Caller
from engine.usage import Price
from engine.wildcard import ByName

log = logging.getLogger("modelway")


class Lookup(Protocol):
    """Where callers are found."""

    def get(self, digest: str, /) -> Caller | None: ...


@dataclass(frozen=True, slots=True)
class Services:
    """`clock` gives Unix seconds, `dice` a number from 0 up to 1, `tokens` callers by digest,
    `guesses` how many unknown tokens a client has tried.

    `counters` count what is limited; `allow_uncounted` lets requests pass that they cannot count.
    `prices` are per model, in `currency`. `begin` is told of the beginning of each
    exchange, `observers` of its end. `proxies` are the networks whose X-Forwarded-For is believed.

    `readings` tell the metrics what has to be asked for, `page` is the text of all of them, where
    there are any; `health` tells whether the worker is ready.
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
    readings: list[Read] = field(default_factory=list)
    page: Callable[[], bytes] | None = None
    health: Health = field(default_factory=Health)
    closing: Sequence[Callable[[], None]] = ()

    def close(self) -> None:
        """The worker ends: close what was opened, last in first out. What fails is logged."""
        for close in reversed(self.closing):
            try:
                close()
            except Exception:
                log.exception("a part of the worker was not closed")
