"""The open exchanges of a worker: calls observers at begin and end, and interrupts them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import gevent
from gevent import GreenletExit

from engine.exchange.exchange import Exchange, Handler, Observer, Response
from engine.exchange.outcome import CallCancelled, Outcome, TokenRevoked

log = logging.getLogger("modelway")

_POLL_INTERVAL = 0.02


class RequestLifecycle:
    """Tracks the open exchanges and calls the observers.

    `begin` is called when an exchange begins, `observers` when it has ended; `clock` gives Unix
    seconds. `observe` is the outermost stage of every handler whose exchanges are observed.
    """

    def __init__(
        self,
        observers: Sequence[Observer] = (),
        clock: Callable[[], float] = time.time,
        begin: Observer | None = None,
    ) -> None:
        self._open: dict[Exchange, Any] = {}  # with its greenlet
        self._interrupted = False
        self._revoked: set[Exchange] = set()
        self._observers = observers
        self._clock = clock
        self._begin = begin

    @property
    def open(self) -> int:
        """The number of open exchanges."""
        return len(self._open)

    def open_exchanges(self) -> list[Exchange]:
        """The open exchanges, oldest first."""
        return list(self._open)

    def observe(self, exchange: Exchange, following: Handler) -> Response:
        """The stage that enters an exchange."""
        self.enter(exchange)
        return following(exchange)

    def enter(self, exchange: Exchange) -> None:
        """Begin an exchange. At its end, after all other callbacks, each observer is called
        once."""
        record = exchange.record
        record.time = self._clock()
        record.start = time.monotonic()
        self._open[exchange] = gevent.getcurrent()
        exchange.on_end.append(partial(self._leave, exchange))
        if self._begin is not None:
            try:
                self._begin(exchange)
            except Exception:
                log.exception("request %s: the observer of its begin failed", exchange.request_id)

    def _leave(self, exchange: Exchange) -> None:
        self._open.pop(exchange, None)
        if self._interrupted or self._revoked:
            self._note_interruption(exchange)
        exchange.record.close(time.monotonic())
        for observer in self._observers:
            try:
                observer(exchange)
            except Exception:
                log.exception("request %s: an observer of its end failed", exchange.request_id)

    def _note_interruption(self, exchange: Exchange) -> None:
        """Set the outcome of an exchange that ended without one while others are interrupted."""
        is_revoked = exchange in self._revoked
        self._revoked.discard(exchange)
        if not exchange.record.outcome:
            if is_revoked:
                exchange.record.outcome = Outcome.REVOKED
            elif self._interrupted:
                exchange.record.outcome = Outcome.SHUTDOWN

    def record_refusal(self, exchange: Exchange) -> None:
        """Record a request that the server refused before routing, because it is invalid or there
        was no room for its connection. The response is in the exchange's record."""
        self.enter(exchange)
        exchange.end()

    def interrupt(self) -> None:
        """End each open exchange, because the worker is about to end. Returns at once.

        A waiting request gets 503; a stream gets its dialect's error event and is cut; the outcome
        of both is `shutdown`. Exchanges that are already ending, and WebSocket sessions, which
        `Sessions` ends, are skipped. The second call cuts all that are still open.
        """
        force, self._interrupted = self._interrupted, True
        run = gevent.get_hub().loop.run_callback
        for exchange in self._open:
            run(self._interrupt, exchange, GreenletExit, force)

    def revoke(self, exchange: Exchange) -> None:
        """End an open exchange, because its token is no longer valid. Returns at once.

        As `interrupt`, with 401 for a waiting request, and the outcome `revoked`.
        """
        if exchange in self._open and not exchange.record.outcome:
            self._revoked.add(exchange)
            gevent.get_hub().loop.run_callback(self._interrupt, exchange, TokenRevoked, False)

    def cancel(self, exchange: Exchange) -> None:
        """End an open exchange, because its caller has cancelled it. Returns at once.

        As `interrupt`, with the outcome `caller_left`.
        """
        if exchange in self._open and not exchange.record.outcome:
            gevent.get_hub().loop.run_callback(self._interrupt, exchange, CallCancelled, False)

    def _interrupt(self, exchange: Exchange, cause: type[GreenletExit], force: bool) -> None:
        """Raise `cause` in the greenlet of an open exchange. Runs in the event loop, while all
        greenlets wait."""
        greenlet = self._open.get(exchange)
        is_ending = bool(exchange.record.outcome) or exchange.record.traffic is not None
        if greenlet is not None and (force or not is_ending):
            greenlet.throw(cause)

    def drain(self, seconds: float) -> None:
        """Wait until no exchange is open, for at most `seconds`."""
        end = time.monotonic() + seconds
        while self._open and time.monotonic() < end:
            gevent.sleep(_POLL_INTERVAL)
