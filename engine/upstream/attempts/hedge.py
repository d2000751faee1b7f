"""Hedged requests: a second attempt while a slow first one runs; the first one with content wins.

The other attempt is cancelled: its connection is closed.

The delay of the second attempt is fixed, or a percentile of the last times to the first content of
the target, in this worker and on this route. Until SAMPLES of them are known, nothing is hedged.

Theory of operation. The first side runs in a greenlet. If it has not ended after the delay, the
next target that needs no wait is the second side; without one the first goes on alone. A side ends

    won         it is the first with content: its response is relayed
    failed      before the other won; the failure is applied to its target, by `may_retry`
    unused      it had content as well, but later: its usage is counted, and it is closed
    CANCELLED   it was still running when the other won: its greenlet is killed

and if both failed, the last to fail is the result. Invariants:

- A race has one result. What a side learns is in its own result; `_record` adds both sides to the
  record, and names the target of the one that won.
- If the caller leaves, no side has won. What was sent is counted, by each attempt as it ends.
- The time of the race is waiting time of the request once, not once for each side.
- Slots of the side that lost are given back at once, those of the winner when the request ends.
- A cancelled time is a lower bound, and still noted: without it, a target that is always cancelled
  would look fast.

The idea: https://research.google/pubs/the-tail-at-scale/. At the 95th percentile one request in
twenty is sent twice.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Protocol
from weakref import WeakKeyDictionary

from engine.exchange.exchange import Exchange
from engine.exchange.request_record import CANCELLED, Attempt
from engine.upstream.attempts.candidates import Candidate, Candidates
from engine.upstream.attempts.race import race
from engine.upstream.requests.translated_request import TranslatedRequests
from engine.upstream.responses.attempt_result import AttemptResult, set_target
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_state import TargetState
from engine.values import units

SAMPLES = 20
_MAX_SAMPLES = 200
_SORT_EVERY = 10

_Outcome = tuple[Candidate, AttemptResult]


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
        result = self._forwarding.attempt(candidate, candidates.deadline, exchange, requests)
        exchange.record.wait_time += result.attempt.seconds
        exchange.record.add(result.attempt)
        if not result.failure:
            self._delay.note(candidate.target, result.attempt.seconds)
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
        forwarding, record = self._forwarding, exchange.record
        starts: dict[Candidate, float] = {}

        def run(candidate: Candidate) -> Callable[[], _Outcome]:
            starts[candidate] = time.monotonic()
            return lambda: (
                candidate,
                forwarding.attempt(candidate, candidates.deadline, exchange, requests),
            )

        def second() -> Callable[[], _Outcome] | None:
            other = candidates.next_unattempted(of_group=False)
            if other is None or not forwarding.may_begin(other, candidates, exchange):
                return None
            return run(other)

        try:
            runs = race(run(candidate), delay, second, lambda outcome: not outcome[1].failure)
        finally:
            record.wait_time += time.monotonic() - starts[candidate]
        if (error := runs[-1].error) is not None:
            raise error
        outcomes = [run.result for run in runs if run.result is not None]
        winner, result = outcomes.pop()
        for loser, lost in outcomes:
            self._settle(loser, lost, candidates, exchange)
        self._record(starts, {winner: result, **dict(outcomes)}, winner, exchange)
        for other in starts:
            if other is not winner:
                candidates.release(other.target)
        return winner, result

    def _settle(
        self,
        loser: Candidate,
        result: AttemptResult,
        candidates: Candidates,
        exchange: Exchange,
    ) -> None:
        """Apply the failure of an attempt that lost to its target, or count its usage."""
        if result.failure:
            self._forwarding.may_retry(result, loser, candidates, exchange)
        else:
            self._forwarding.discard(result, exchange)
        result.close()

    def _record(
        self,
        starts: Mapping[Candidate, float],
        results: Mapping[Candidate, AttemptResult],
        winner: Candidate,
        exchange: Exchange,
    ) -> None:
        """Add the attempts to the record of the request, in the order in which they began. One that
        neither won nor failed was cancelled."""
        record, now = exchange.record, time.monotonic()
        for candidate, start in starts.items():
            result, target = results.get(candidate), candidate.target
            if result is not None and (candidate is winner or result.failure):
                attempt = result.attempt
            else:
                names = target.name, target.upstream.name, target.model or exchange.model.name
                attempt = Attempt(*names, CANCELLED, 0, start, now - start)
            record.add(attempt)
            if attempt.failure in ("", CANCELLED):
                self._delay.note(target, attempt.seconds)
        set_target(record, winner.target, exchange.model.name)
