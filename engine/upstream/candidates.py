"""Which target of a request is attempted next, and when.

The law: a target is attempted if its breaker allows it and a credential is available; every target
once before any of them twice. A retry at an upstream takes from its retry budget and waits as
`retry` says, never beyond the first upstream's `total`. `order` draws targets by weight from those
that remain, so that the requests of a failed one are shared out by weight too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from engine.credentials.interface.credential import LiveCredential
from engine.upstream import retry
from engine.upstream.credentials import REFUSED_SECONDS
from engine.upstream.error_response import credentials_refused, unavailable
from engine.upstream.target import Target
from engine.values.errors import GatewayError


class Weighted(Protocol):
    """Anything with a share."""

    @property
    def weight(self) -> float: ...


T = TypeVar("T", bound=Weighted)


def order(targets: Sequence[T], dice: Callable[[], float]) -> list[T]:
    """The targets, drawn one after another by weight; `dice` gives a number from 0 up to 1.
    Targets of weight 0 come last."""
    if len(targets) <= 1:
        return list(targets)
    first = _draw(targets, dice)
    others_by_arrival = [*targets[:first], *targets[first + 1 :]]
    if len(others_by_arrival) > 1:
        others_by_arrival.sort(key=lambda target: _log_arrival(target.weight, dice))
    return [targets[first], *others_by_arrival]


def _draw(targets: Sequence[Weighted], dice: Callable[[], float]) -> int:
    """The index of one target, drawn by weight: of weight 0 only where all are."""
    point = dice() * sum(target.weight for target in targets)
    choice = 0
    for index, target in enumerate(targets):
        if target.weight > 0:
            choice = index  # rounding may leave the point at 0 after the last weight
        point -= target.weight
        if point < 0:
            break
    return choice


def _log_arrival(weight: float, dice: Callable[[], float]) -> float:
    """The logarithm of a random arrival time at the rate `weight`: targets sorted by it are drawn
    by weight (Efraimidis and Spirakis, 2006). The time itself would overflow for a weight near 0,
    which a config may have."""
    if weight <= 0:
        return math.inf
    time = -math.log1p(-dice())
    return math.log(time) - math.log(weight) if time else -math.inf


class Candidate(NamedTuple):
    """A target to attempt with a credential, after a `wait` of so many seconds."""

    target: Target
    credential: LiveCredential | None
    wait: float


class Candidates:
    """The targets of one request, what has been attempted, and what follows from the results.

    `carries` is whether a target can get the request, None if every target can. `attempts` are
    counted by target. Times are those of `clock`; `deadline` is the last for an attempt.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        clock: Callable[[], float],
        dice: Callable[[], float],
        carries: Callable[[Target], bool] | None = None,
    ) -> None:
        self.deadline = clock() + targets[0].upstream.timeouts.total
        self.attempts: dict[Target, int] = {}
        self._targets = targets
        self._clock = clock
        self._dice = dice
        self._carries = carries
        self._ready: dict[Target, float] = {}  # when the Retry-After of a target ends
        self._renewed = False  # a refused token is fetched anew once in a request
        self._refused_credentials: set[tuple[Target, LiveCredential | None]] = set()

    def next(self) -> Candidate | None:
        """The next target, which counts as an attempt of it; None if no attempt may be made."""
        attempts, targets = self.attempts, self._targets
        if attempts and len(targets) > 1:
            targets = sorted(targets, key=lambda target: attempts.get(target, 0))
        for target in targets:
            if self._carries is not None and not self._carries(target):
                continue
            count = attempts.get(target, 0)
            candidate = self._candidate(target, count)
            if candidate is not None:
                attempts[target] = count + 1
                return candidate
        return None

    def _candidate(self, target: Target, count: int) -> Candidate | None:
        """A target that has been attempted `count` times, None if it may not be attempted now."""
        upstream = target.upstream
        wait = self._wait(target, count) if count else 0.0
        if wait is None:
            return None
        moment = self._clock() + wait
        if moment >= self.deadline:
            return None
        credential = upstream.credentials.take(moment)
        if (credential is None and upstream.credentials) or (
            self._refused_credentials and (target, credential) in self._refused_credentials
        ):
            return None
        if target.breaker.wait(moment) > 0:
            return None
        if self.attempts and any(other.upstream is upstream for other in self.attempts):
            if not upstream.budget.take():
                return None
        else:
            upstream.budget.request()
        return Candidate(target, credential, wait) if target.breaker.allows(moment) else None

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
        self._ready.pop(target, None)
        if retry_after is not None:
            self._ready[target] = now + retry_after
        if retry.counts_against_target(failure):
            target.breaker.failed(now)
        else:
            target.breaker.succeeded()  # it is up, although it refused this request
        refused = failure == "credential"
        if refused and credential is not None and not self._renewed and credential.renew():
            self._renewed = True
            return
        if refused:
            self._refused_credentials.add((target, credential))
        if credential is not None and (refused or failure == "429"):
            pause = REFUSED_SECONDS if refused else min(retry_after or 1.0, REFUSED_SECONDS)
            target.upstream.credentials.set_aside(credential, now + pause, refused=refused)

    def unavailable(self) -> GatewayError:
        """The error if no target could be attempted."""
        now, targets = self._clock(), self._targets
        if all(target.upstream.credentials.all_refused(now) for target in targets):
            return credentials_refused()
        return unavailable(
            min(
                max(target.breaker.wait(now), target.upstream.credentials.wait(now))
                for target in targets
            )
        )
