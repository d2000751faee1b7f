"""Hedged requests: a second attempt while a slow first one runs; the first one with content wins.

The other attempt is cancelled: its connection is closed. Each attempt has a copy of the exchange
with a record of its own, so that neither changes what the other one reads.

The delay of the second attempt is fixed, or a percentile of the last times to the first content of
the target, in this worker and on this route. Until SAMPLES of them are known, nothing is hedged.

Theory of operation. The first side runs in a greenlet. If it has not ended after the delay, the
next target that needs no wait is the second side; without one the first goes on alone. A side ends

    won         it is the first with content: its response is relayed
    failed      before the other won; the failure is applied to its target, by `may_retry`
    unused      it had content as well, but later: its usage is counted, and it is closed
    CANCELLED   it was still running when the other won: its greenlet is killed

and if both failed, the last to fail is the result. Invariants:

- A race has one result, and exactly one side writes to the exchange of the request, in `_join`,
  which also runs if the caller left: then no side has won, but what was sent is counted.
- The time of the race is waiting time of the request once, not once for each side.
- Places of the side that lost are given back at once, those of the winner when the request ends.
- A cancelled time is a lower bound, and still noted: without it, a target that is always cancelled
  would look fast.

The idea: https://research.google/pubs/the-tail-at-scale/. At the 95th percentile one request in
twenty is sent twice.
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
_MAX_SAMPLES = 200
_SORT_EVERY = 10


class LatencyWindow:
    """The last times of one target in seconds, and their percentile `share` (0 to 1)."""

    __slots__ = ("_count", "_share", "_times", "percentile")

    def __init__(self, share: float) -> None:
        self._share = share
        self._times: deque[float] = deque(maxlen=_MAX_SAMPLES)
        self._count = 0
        self.percentile: float | None = None
        """None while too few times are known."""

    def note(self, seconds: float) -> None:
        """Add a time; for a cancelled attempt the time until then, which is a lower bound."""
        self._times.append(seconds)
        self._count += 1
        if self._count >= SAMPLES and self._count % _SORT_EVERY == 0:
            ordered = sorted(self._times)
            self.percentile = ordered[min(int(self._share * len(ordered)), len(ordered) - 1)]


class HedgeDelay:
    """The delay of a second attempt: `after` is a duration such as `2s`, or a percentile like
    `p95`."""

    def __init__(self, after: str) -> None:
        self._share = int(after[1:]) / 100 if after.startswith("p") else 0.0
        self._fixed = None if self._share else units.seconds(after)
        # Weak, so that the windows of addresses that left are freed.
        self._windows: WeakKeyDictionary[TargetState, LatencyWindow] = WeakKeyDictionary()

    def of(self, target: Target) -> float | None:
        """The delay in seconds for a target; None if the attempt is not hedged."""
        if self._fixed is not None:
            return self._fixed
        window = self._windows.get(target.state)
        return None if window is None else window.percentile

    def note(self, target: Target, seconds: float) -> None:
        """Add a time to the first content of a target."""
        if self._fixed is None:
            window = self._windows.setdefault(target.state, LatencyWindow(self._share))
            window.note(seconds)


class Forwarding(Protocol):
    """The methods of `Forward` that hedging calls."""

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
    def discard(self, result: AttemptResult, exchange: Exchange, /) -> None: ...
    def may_retry(
        self,
        result: AttemptResult,
        candidate: Candidate,
        candidates: Candidates,
        exchange: Exchange,
        /,
    ) -> bool: ...


class _Side:
    """One of two concurrent attempts, with its own exchange and record."""

    def __init__(self, candidate: Candidate, exchange: Exchange) -> None:
        self.candidate = candidate
        self.start = time.monotonic()
        self.exchange = copy(exchange)
        self.exchange.record = record = copy(exchange.record)
        record.attempts, record.unused = [], ()

    def attempt(self, won: bool) -> Attempt:
        """The attempt, for the record of the request; CANCELLED if it neither won nor failed."""
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
        """Attempt a candidate, and another one if that takes long. Returns the winner, else the
        last to fail, with its result. A failure of the other one has been applied to its target."""
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
        """Attempt a candidate, and after `delay` seconds another one concurrently."""
        forwarding = self._forwarding
        sides: list[_Side] = []

        def run(candidate: Candidate) -> Callable[[], tuple[_Side, AttemptResult]]:
            side = _Side(candidate, exchange)
            sides.append(side)
            return lambda: (
                side,
                forwarding.attempt(candidate, candidates.deadline, side.exchange, requests),
            )

        def second() -> Callable[[], tuple[_Side, AttemptResult]] | None:
            other = candidates.next_unattempted(of_group=False)
            if other is None or not forwarding.may_begin(other, candidates, exchange):
                return None
            return run(other)

        winner: _Side | None = None
        try:
            runs = race(run(candidate), delay, second, lambda outcome: not outcome[1].failure)
            if (error := runs[-1].error) is not None:
                raise error
            assert runs[-1].result is not None
            winner, result = runs[-1].result
            for side, lost in [run.result for run in runs[:-1] if run.result is not None]:
                if lost.failure:
                    forwarding.may_retry(lost, side.candidate, candidates, exchange)
                else:
                    forwarding.discard(lost, side.exchange)
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
        """Merge the records of the attempts into the record of the request."""
        record, now = exchange.record, time.monotonic()
        record.wait_time += now - sides[0].start
        record.attempt_count += len(sides)
        for side in sides:
            record.reached_upstream |= side.exchange.record.reached_upstream
            record.unused += side.exchange.record.unused
            if winner is None:  # the caller left, or the race raised
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
