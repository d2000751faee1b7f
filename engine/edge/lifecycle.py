"""The exchanges of a worker that are open: observed at both ends, interrupted when it stops."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import gevent
from gevent import GreenletExit

from engine.exchange.exchange import Exchange, Handler, Observer, Response
from engine.exchange.record import Outcome

log = logging.getLogger("modelway")

_POLL_INTERVAL = 0.02


class RequestLifecycle:
    """Keeps the open exchanges and calls the observers.

    `begin` is called when an exchange begins, `observers` when it has ended; `clock` gives Unix
    seconds. `observe` is the outermost stage of every stack whose exchanges are counted.
    """

    def __init__(
        self,
        observers: Sequence[Observer] = (),
        clock: Callable[[], float] = time.time,
        begin: Observer | None = None,
    ) -> None:
        self._open: dict[Exchange, Any] = {}  # with its greenlet
        self._interrupted = False
        self._observers = observers
        self._clock = clock
        self._begin = begin

    @property
    def open(self) -> int:
        """The number of open exchanges."""
        return len(self._open)

    def observe(self, exchange: Exchange, following: Handler) -> Response:
        """A stage: the exchange is open until its end."""
        self.enter(exchange)
        return following(exchange)

    def enter(self, exchange: Exchange) -> None:
        """Begin an exchange. At its end, after everything else, each observer is called once."""
        record = exchange.record
        record.time, record.start = self._clock(), time.monotonic()
        self._open[exchange] = gevent.getcurrent()
        exchange.on_end.append(partial(self._leave, exchange))
        if self._begin is not None:
            try:
                self._begin(exchange)
            except Exception:
                log.exception("request %s: its beginning was not noted", exchange.request_id)

    def _leave(self, exchange: Exchange) -> None:
        self._open.pop(exchange, None)
        if self._interrupted and not exchange.record.outcome:
            exchange.record.outcome = Outcome.SHUTDOWN
        exchange.record.close(time.monotonic())
        for observer in self._observers:
            try:
                observer(exchange)
            except Exception:
                log.exception("request %s: its end was not noted", exchange.request_id)

    def record_refusal(self, exchange: Exchange) -> None:
        """Record a request that the server refused before it was routed: invalid, or without room
        for its connection. The response is in the exchange's record."""
        self.enter(exchange)
        exchange.end()

    def interrupt(self) -> None:
        """End each open exchange, because the worker is about to end. Returns at once.

        A request that waits is answered with 503; a stream gets its dialect's error event and is
        cut; the outcome of each is `shutdown`. Exchanges that are ending, and WebSocket sessions,
        which `Sessions` ends, are left alone. The second call cuts whatever is still open.
        """
        cut, self._interrupted = self._interrupted, True
        run = gevent.get_hub().loop.run_callback
        for exchange in self._open:
            run(self._interrupt, exchange, cut)

    def _interrupt(self, exchange: Exchange, cut: bool) -> None:
        """Wake the greenlet of an open exchange. Runs in the event loop, where all of them wait."""
        greenlet = self._open.get(exchange)
        ending = bool(exchange.record.outcome) or exchange.traffic is not None
        if greenlet is not None and (cut or not ending):
            greenlet.throw(GreenletExit)

    def drain(self, seconds: float) -> None:
        """Wait until no exchange is open, for at most `seconds`."""
        end = time.monotonic() + seconds
        while self._open and time.monotonic() < end:
            gevent.sleep(_POLL_INTERVAL)
