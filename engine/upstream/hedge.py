"""Hedged requests: a second attempt beside a first one that takes long; the first to begin wins.

The other one is cancelled: its connection is closed. Each attempt has a copy of the exchange with a
record of its own, so that neither changes what the other one reads.

The time after which the second attempt begins is fixed, or a percentile of the times to the first
content that the target needed lately, in this worker and on this route. Until SAMPLES of them are
known, nothing is hedged.

https://research.google/pubs/the-tail-at-scale/ for the idea; at the 95th percentile, a twentieth of
the requests is sent twice.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from copy import copy
from typing import Protocol
from weakref import WeakKeyDictionary

from engine.exchange.exchange import Exchange
from engine.exchange.record import CANCELLED, Attempt
from engine.upstream.attempt import AttemptResult
from engine.upstream.candidates import Candidate, Candidates
from engine.upstream.race import race
from engine.upstream.target import Target
from engine.upstream.target_state import TargetState
from engine.upstream.translations import TranslatedRequests
from engine.values import units

SAMPLES = 20
_LONGEST = 200
_SORT_EVERY = 10


class LatencyWindow:
    """The last times of one target in seconds, and a percentile of them."""

    __slots__ = ("_noted", "_share", "_times", "percentile")

    def __init__(self, share: float) -> None:
        self._share = share
        self._times: deque[float] = deque(maxlen=_LONGEST)
        self._noted = 0
        self.percentile: float | None = None
        """None while too few times are known."""

    def note(self, seconds: float) -> None:
        """Add a time; of an attempt that was cancelled, the one until then: it is at least that."""
        self._times.append(seconds)
        self._noted += 1
        if self._noted >= SAMPLES and self._noted % _SORT_EVERY == 0:
            ordered = sorted(self._times)
            self.percentile = ordered[min(int(self._share * len(ordered)), len(ordered) - 1)]


class HedgeDelay:
    """When a second attempt begins: `after` a duration such as `2s`, or a percentile like `p95`."""

    def __init__(self, after: str) -> None:
        self._share = int(after[1:]) / 100 if after.startswith("p") else 0.0
        self._fixed = None if self._share else units.seconds(after)
        # Of targets that are in use: those of addresses that went away end.
        self._windows: WeakKeyDictionary[TargetState, LatencyWindow] = WeakKeyDictionary()

    def of(self, target: Target) -> float | None:
        """The seconds after which an attempt at a target gets a second one beside it; None if it
        gets none."""
        if self._fixed is not None:
            return self._fixed
        window = self._windows.get(target.state)
        return None if window is None else window.percentile

    def note(self, target: Target, seconds: float) -> None:
        """Note the time to the first content of a target."""
        if self._fixed is None:
            window = self._windows.setdefault(target.state, LatencyWindow(self._share))
            window.note(seconds)


class Forwarding(Protocol):
    """What hedging needs of the handler that forwards."""

    def may_begin(
        self, candidate: Candidate, candidates: Candidates, exchange: Exchange, /
    ) -> bool: ...
    def attempt(
        self,
        candidate: Candidate,
        deadline: float,
        exchange: Exchange,
        requests: TranslatedRequests | None,
        /,
    ) -> AttemptResult: ...
    def may_retry(
        self,
        result: AttemptResult,
        candidate: Candidate,
        candidates: Candidates,
        exchange: Exchange,
        /,
    ) -> bool: ...


class _Side:
    """One of the attempts that run beside each other, with its own exchange and record."""

    def __init__(self, candidate: Candidate, exchange: Exchange) -> None:
        self.candidate = candidate
        self.start = time.monotonic()
        self.exchange = copy(exchange)
        self.exchange.record = record = copy(exchange.record)
        record.attempts = []

    def attempt(self, won: bool) -> Attempt:
        """How it ended, for the record of the request."""
        attempts = self.exchange.record.attempts
        if attempts and (won or attempts[0].failure):
            return attempts[0]
        target, seconds = self.candidate.target, time.monotonic() - self.start
        name, model = target.upstream.name, target.model or self.exchange.model
        return Attempt(target.name, name, model, CANCELLED, 0, self.start, seconds)


class Hedging:
    """The attempts of a route whose requests are hedged `after` some time (see `HedgeDelay`)."""

    def __init__(self, after: str, forwarding: Forwarding) -> None:
        self._delay = HedgeDelay(after)
        self._forwarding = forwarding

    def attempt(
        self,
        candidate: Candidate,
        candidates: Candidates,
        exchange: Exchange,
        requests: TranslatedRequests | None,
    ) -> tuple[Candidate, AttemptResult]:
        """Attempt a candidate, and another one beside it where it takes long. Returns the one that
        decides, with its result; a failure of the other one has been applied to its target."""
        delay = self._delay.of(candidate.target)
        if delay is not None:
            return self._race(candidate, candidates, exchange, requests, delay)
        start = time.monotonic()
        result = self._forwarding.attempt(candidate, candidates.deadline, exchange, requests)
        if not result.failure:
            self._delay.note(candidate.target, time.monotonic() - start)
        return candidate, result

    def _race(
        self,
        candidate: Candidate,
        candidates: Candidates,
        exchange: Exchange,
        requests: TranslatedRequests | None,
        delay: float,
    ) -> tuple[Candidate, AttemptResult]:
        """Attempt a candidate, and after `delay` seconds another one beside it."""
        forwarding = self._forwarding
        sides: list[_Side] = []

        def run(candidate: Candidate) -> Callable[[], tuple[_Side, AttemptResult]]:
            side = _Side(candidate, exchange)
            sides.append(side)
            return lambda: (
                side,
                forwarding.attempt(candidate, candidates.deadline, side.exchange, requests),
            )

        def beside() -> Callable[[], tuple[_Side, AttemptResult]] | None:
            other = candidates.beside()
            if other is None or not forwarding.may_begin(other, candidates, exchange):
                return None
            return run(other)

        winner: _Side | None = None
        try:
            runs = race(run(candidate), delay, beside, lambda ended: not ended[1].failure)
            if (error := runs[-1].error) is not None:
                raise error
            assert runs[-1].result is not None
            winner, result = runs[-1].result
            for side, lost in [run.result for run in runs[:-1] if run.result is not None]:
                if lost.failure:
                    forwarding.may_retry(lost, side.candidate, candidates, exchange)
                lost.close()
        finally:
            self._join(exchange, sides, winner)
        for side in sides:
            if side is not winner:
                candidates.release(side.candidate.target)
        if result.open is not None:
            result.open.record = exchange.record
        return winner.candidate, result

    def _join(self, exchange: Exchange, sides: Sequence[_Side], winner: _Side | None) -> None:
        """Put what the attempts recorded into the record of the request."""
        record, now = exchange.record, time.monotonic()
        record.wait_time += now - sides[0].start
        record.attempt_count += len(sides)
        for side in sides:
            record.reached_upstream |= side.exchange.record.reached_upstream
            if winner is None:  # the caller did not wait for any of them
                continue
            attempt = side.attempt(side is winner)
            record.attempts.append(attempt)
            if attempt.failure in ("", CANCELLED):
                self._delay.note(side.candidate.target, attempt.seconds)
        source = (winner or sides[0]).exchange
        exchange.upstream_usage = source.upstream_usage
        exchange.cache_counted_twice = source.cache_counted_twice
        record.upstream, record.model = source.record.upstream, source.record.model
        record.upstream_model = source.record.upstream_model
        record.served_entry = source.record.served_entry
        record.first_byte = source.record.first_byte
