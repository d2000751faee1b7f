"""Which target of a request is attempted next, and when.

The law: a target is attempted if its breaker allows it and a credential is available; every target
once before any of them twice. Those that are to be asked last (see `target_state`) come after all
others. A retry at an upstream takes from its retry budget and waits as `retry` says, never beyond
the first upstream's `total`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from engine.credentials.interface.credential import LiveCredential
from engine.upstream import retry
from engine.upstream.credentials import REFUSED_SECONDS
from engine.upstream.error_response import credentials_refused, unavailable
from engine.upstream.target import Target
from engine.values.errors import GatewayError


class Candidate(NamedTuple):
    """A target to attempt with a credential, after a `wait` of so many seconds."""

    target: Target
    credential: LiveCredential | None
    wait: float


class Candidates:
    """The targets of one request, what has been attempted, and what follows from the results.

    `targets` are in the order of attempts; they are taken one by one, as they are needed.
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
        self._waiting = iter(targets)  # for their first attempt
        self._passed: list[Target] = []
        self._asked_last: list[Target] = []
        self._clock = clock
        self._dice = dice
        self._carries = carries
        self._ready: dict[Target, float] = {}  # when the Retry-After of a target ends
        self._renewed = False  # a refused token is fetched anew once in a request
        self._refused_credentials: set[tuple[Target, LiveCredential | None]] = set()

    def next(self) -> Candidate | None:
        """The next target, which counts as an attempt of it; None if no attempt may be made."""
        for target in self._waiting:
            conditions = target.state.conditions
            if conditions and target.state.asked_last(self._clock()):
                self._asked_last.append(target)
            elif candidate := self._first_attempt(target):
                return candidate
        while self._asked_last:
            if candidate := self._first_attempt(self._asked_last.pop(0)):
                return candidate
        for target in sorted(self._passed, key=lambda target: self.attempts.get(target, 0)):
            if candidate := self._candidate(target, self.attempts.get(target, 0)):
                return candidate
        return None

    def _first_attempt(self, target: Target) -> Candidate | None:
        self._passed.append(target)
        return self._candidate(target, 0)

    def _candidate(self, target: Target, count: int) -> Candidate | None:
        """A target that has been attempted `count` times, which counts as an attempt; None if it
        may not be attempted now."""
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
        if breaker.wait(moment) > 0:
            return None
        if self.attempts and any(other.upstream is upstream for other in self.attempts):
            if not upstream.budget.take():
                return None
        else:
            upstream.budget.request()
        if not breaker.allows(moment):
            return None
        self.attempts[target] = count + 1
        return Candidate(target, credential, wait)

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
        target.state.failed(failure, now)
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
                max(target.state.breaker.wait(now), target.upstream.credentials.wait(now))
                for target in targets
            )
        )
