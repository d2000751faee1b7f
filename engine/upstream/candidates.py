"""Which target of a request is attempted next, and when.

The law: a target is attempted if its breaker allows it and a credential is available; every target
once before any of them twice. Those that are to be asked last (see `target_state`) come after all
others, and those without a free place (see `admission/`) at the end, when a request waits for one.
A retry at an upstream takes from its retry budget and waits as `retry` says, never beyond
the first upstream's `total`.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from engine.credentials.interface.credential import LiveCredential
from engine.exchange.record import RequestRecord
from engine.upstream import retry
from engine.upstream.admission.gate import Gate, Wait
from engine.upstream.admission.places import NoPlace, NoPlaces, Places, take_places, wait_for_any
from engine.upstream.credentials import REFUSED_SECONDS
from engine.upstream.error_response import all_busy, credentials_refused, unavailable
from engine.upstream.target import Target
from engine.values.admission import NORMAL
from engine.values.errors import GatewayError

MOST_QUEUES = 8
"""In so many queues a request waits at once: with a hundred addresses more would cost too much."""


class Candidate(NamedTuple):
    """A target to attempt with a credential, after a `wait` of so many seconds. `places` are those
    that the attempt holds, None where the target has no bounds; a retry takes them after its wait.
    """

    target: Target
    credential: LiveCredential | None
    wait: float
    places: Places | None = None


class Candidates:
    """The targets of one request, what has been attempted, and what follows from the results.

    `targets` are in the order of attempts; they are taken one by one, as they are needed.
    `carries` is whether a target can get the request, None if every target can. `attempts` are
    counted by target. Times are those of `clock`; `deadline` is the last for an attempt. `rank` is
    that of the request's priority; the time in queues is noted on its `record`.
    """

    # What most requests have none of: all of it is made where it is needed.
    _asked_last: deque[Target] | None = None
    _full: list[Target] | None = None
    _full_gates: set[Gate] | None = None  # without a free place at the last look
    _busy: tuple[NoPlace, ...] = ()  # the gates without one after the wait
    _held: Mapping[Target, Places] = MappingProxyType({})
    _ready: Mapping[Target, float | None] = MappingProxyType({})  # when its Retry-After ends
    _renewed = False  # a refused token is fetched anew once in a request
    _refused_credentials: frozenset[tuple[Target, LiveCredential | None]] = frozenset()
    _unreached: frozenset[Target] = frozenset()  # no connection was possible

    def __init__(
        self,
        targets: Sequence[Target],
        clock: Callable[[], float],
        dice: Callable[[], float],
        carries: Callable[[Target], bool] | None = None,
        rank: int = NORMAL,
        record: RequestRecord | None = None,
    ) -> None:
        self.deadline = clock() + targets[0].upstream.timeouts.total
        self.attempts: dict[Target, int] = {}
        self._targets = targets
        self._waiting = iter(targets)  # for their first attempt
        self._passed: list[Target] = []
        self._clock = clock
        self._dice = dice
        self._carries = carries
        self._rank = rank
        self._record = record

    def next(self) -> Candidate | None:
        """The next target, which counts as an attempt of it; None if no attempt may be made."""
        if candidate := self.beside():
            return candidate
        while self._asked_last:
            target = self._asked_last.popleft()
            self._passed.append(target)
            if candidate := self._candidate(target, 0):
                return candidate
        while self._full:
            if candidate := self._after_queues(self._full):
                return candidate
        for target in sorted(self._passed, key=lambda target: self.attempts.get(target, 0)):
            if candidate := self._candidate(target, self.attempts.get(target, 0)):
                return candidate
        return None

    def beside(self) -> Candidate | None:
        """The next target that has not been attempted and can be at once, also beside an attempt
        that has not ended."""
        now: float | None = None  # one moment for all: targets of a group compare themselves
        for target in self._waiting:
            if target.state.conditions:
                if now is None:
                    now = self._clock()
                if target.state.asked_last(now):
                    self._asked_last = self._asked_last or deque()
                    self._asked_last.append(target)
                    continue
            self._passed.append(target)
            if candidate := self._candidate(target, 0):
                return candidate
        return None

    def hold_places(self, candidate: Candidate) -> Places | None:
        """The places for the attempt of a candidate with bounds, waited for if need be; None if
        there are none in time. They are given back when the attempt fails."""
        target, places = candidate.target, candidate.places
        if places is None and (admitted := self._wait_for_places([target])) is not None:
            _, places = admitted
        if places is not None:
            self._held = {**self._held, target: places}
        return places

    def release(self, target: Target) -> None:
        """Give back the places of an attempt that has ended."""
        if (places := self._held.get(target)) is not None:
            self._held = {each: own for each, own in self._held.items() if each is not target}
            places.release()

    def _after_queues(self, full: Sequence[Target]) -> Candidate | None:
        """The first of the targets without a free place that gets one, waited for at several at
        once; None if that takes too long, or if the target may not be attempted then. No gate is
        waited for twice: targets share gates."""
        busy = {refusal.gate for refusal in self._busy}
        self._full = [target for target in full if busy.isdisjoint(target.gates)]
        for target in full:
            if not busy.isdisjoint(target.gates) and self._full_gates:
                self._full_gates.difference_update(target.gates)  # a retry looks again
        waiting = _without_common_gates(self._full)[:MOST_QUEUES]
        admitted = self._wait_for_places(waiting) if waiting else None
        targets = waiting if admitted is None else admitted[:1]
        self._full = [target for target in self._full if target not in targets]
        if admitted is None:
            return None
        target, places = admitted
        candidate = self._candidate(target, 0, places)
        if candidate is None:
            places.cancel()
        return candidate

    def _take_places(self, target: Target) -> Places | None:
        """The free places of a target; None if there are none, and it is to be waited for."""
        if not self._full_gates or self._full_gates.isdisjoint(target.gates):
            try:
                return take_places(target.gates, self._rank)
            except NoPlace as refusal:
                self._full_gates = self._full_gates or set()
                self._full_gates.add(refusal.gate)
        self._full = self._full or []
        self._full.append(target)
        return None

    def _wait_for_places(self, targets: Sequence[Target]) -> tuple[Target, Places] | None:
        """The first of the targets to have places for an attempt, None if none has in time."""
        start = self._clock()
        try:
            index, places = wait_for_any(
                [target.gates for target in targets], self._rank, self.deadline - start
            )
            return targets[index], places
        except NoPlaces as error:
            self._busy += tuple(error.refusals)
            if self._full_gates:
                self._full_gates.difference_update(refusal.gate for refusal in error.refusals)
            if all(refusal.result is Wait.FULL for refusal in error.refusals):
                start = math.inf  # it has not waited
            return None
        finally:
            if self._record is not None:
                waited = max(0.0, self._clock() - start)
                self._record.queue_time += waited
                self._record.wait_time += waited

    def _candidate(
        self, target: Target, count: int, places: Places | None = None
    ) -> Candidate | None:
        """A target that has been attempted `count` times, which counts as an attempt; None if it
        may not be attempted now. A first attempt has `places`, or takes those that are free."""
        if self._carries is not None and not self._carries(target):
            return None
        upstream = target.upstream
        wait = self._wait(target, count) if count else 0.0
        if wait is None:
            return None
        moment = self._clock() + wait
        if moment >= self.deadline:
            return None
        credential = upstream.credentials.take(moment, target.state.limits)
        if (credential is None and upstream.credentials) or (
            self._refused_credentials and (target, credential) in self._refused_credentials
        ):
            return None
        breaker = target.state.breaker
        if breaker.wait(moment):
            return None
        if target.gates and not count and places is None:
            places = self._take_places(target)
            if places is None:
                return None
        if not self._within_budget(target) or not breaker.allows(moment):
            if places is not None:
                places.cancel()
            return None
        self.attempts[target] = count + 1
        return Candidate(target, credential, wait, places)

    def _within_budget(self, target: Target) -> bool:
        """Whether a target may get an attempt, which counts against the retry budget of its
        upstream unless it is the first of this request there. Another address takes nothing if no
        connection to those before it was possible: they have done no work."""
        upstream = target.upstream
        if not self.attempts or not (
            others := [each for each in self.attempts if each.upstream is upstream]
        ):
            upstream.budget.request()
            return True
        if target.address and target not in others and self._unreached.issuperset(others):
            return True
        return upstream.budget.take()

    def _wait(self, target: Target, attempts: int) -> float | None:
        """Seconds to wait before another attempt; None if there may be none."""
        policy = target.upstream.retry
        if attempts >= policy.attempts:
            return None
        ready = self._ready.get(target)
        if ready is not None:
            wait = max(0.0, ready - self._clock())
            return wait if wait <= policy.max_wait else None
        return retry.backoff(attempts - 1, self._dice)

    def failed(
        self,
        target: Target,
        credential: LiveCredential | None,
        failure: str,
        retry_after: float | None,
    ) -> None:
        """Apply a failure, by its class, to the breaker, the credential and the time of the next
        attempt. `retry_after` are the seconds that the upstream asks to wait."""
        now = self._clock()
        self.release(target)
        # Without a Retry-After a backoff decides.
        self._ready = {**self._ready, target: None if retry_after is None else now + retry_after}
        target.state.failed(failure, now)
        if failure == "connect":
            self._unreached |= {target}
        is_refusal = failure == "credential"
        if is_refusal and credential is not None and not self._renewed and credential.renew():
            self._renewed = True
            return
        if is_refusal:
            self._refused_credentials |= {(target, credential)}
        if credential is not None and (is_refusal or failure == "429"):
            pause = REFUSED_SECONDS if is_refusal else min(retry_after or 1.0, REFUSED_SECONDS)
            target.upstream.credentials.set_aside(credential, now + pause, refused=is_refusal)

    def unavailable(self) -> GatewayError:
        """The error if no target could be attempted."""
        if self._busy:
            if self._record is not None:
                self._record.limit = "max_in_flight"
            wait = min(refusal.gate.retry_after() for refusal in self._busy)
            return all_busy(wait, [refusal.result for refusal in self._busy])
        now, targets = self._clock(), self._targets
        if all(target.upstream.credentials.all_refused(now) for target in targets):
            return credentials_refused()
        return unavailable(
            min(
                max(target.state.breaker.wait(now), target.upstream.credentials.wait(now))
                for target in targets
            )
        )


def _without_common_gates(targets: Sequence[Target]) -> list[Target]:
    """The targets that share no gate with one before them."""
    apart: list[Target] = []
    gates: set[Gate] = set()
    for target in targets:
        if gates.isdisjoint(target.gates):
            apart.append(target)
            gates.update(target.gates)
    return apart
