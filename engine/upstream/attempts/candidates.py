"""Which target of a request is attempted next, and when.

The law: a target is attempted if its breaker allows it and a credential is available. Every target
is attempted once before any of them twice. Those with little left of a rate limit come after the
others of their group, and those that are asked last after all others (see `target_state`). Targets
without a free slot (see `request_slots`) come at the end; the request then waits for one. A retry
takes from the retry budget of its upstream and waits as `retry` says, never beyond the `total`
timeout of the first upstream.

Theory of operation. A target moves down this list, and `next` looks for one in its order:

    waiting       not looked at yet; read lazily, in the order of attempts
    after group   of the current group (`entry`), behind the rest of it: little is left there
    last          behind all groups
    full          it had no free slot: the request waits for one (`RequestSlots.full`)
    retries       attempted, or not allowed then; looked at again for retries, fewest attempts first

Invariants:

- A Candidate is counted in `attempts` when it is returned, not when it is sent.
- What takes something (slots, retry budget, the trial of a breaker) is asked last, and slots are
  cancelled if one behind them refuses.
- A first attempt has its slots before it is returned; a retry takes them after its wait
  (`hold_slots`). They are given back when the attempt failed, or when the request ends.
- None means that nothing may be attempted now; `unavailable` says why.
- `next_unattempted` alone may be called while an attempt runs: it waits for nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from engine.credentials.interface.credential import LiveCredential
from engine.upstream.admission.slots import Slots
from engine.upstream.attempts.request_slots import RequestSlots
from engine.upstream.responses.error_response import credentials_refused, unavailable
from engine.upstream.targets import retry
from engine.upstream.targets.credentials import REFUSED_SECONDS
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_state import AFTER_GROUP
from engine.values.errors import GatewayError


class Candidate(NamedTuple):
    """A target to attempt with a credential, after `wait` seconds. `slots` are those that the
    attempt holds: None for a target without bounds, and for a retry, which takes them after its
    wait.
    """

    target: Target
    credential: LiveCredential | None
    wait: float
    slots: Slots | None = None


class Candidates:
    """The targets of one request, its attempts, and what is left to attempt.

    `targets` are in the order of attempts and are read lazily. `carries` says whether a target can
    get the request, None if every target can. `attempts` counts the attempts by target. No attempt
    begins after `deadline`, a time of `clock`. `make_slots` makes the slots of the request, until
    the deadline, if a target has bounds.
    """

    # Empty for most requests, so each is made at its first use.
    _rest: Iterator[Target] | None = None  # of `_waiting`, after one that was put back
    _after_group: deque[Target] | None = None  # by group
    _last: deque[Target] | None = None
    _slots: RequestSlots | None = None
    _ready: Mapping[Target, float | None] = MappingProxyType({})  # when its Retry-After ends
    _renewed = False  # a refused token is fetched again once per request
    _refused_credentials: frozenset[tuple[Target, LiveCredential | None]] = frozenset()
    _unreached: frozenset[Target] = frozenset()  # no connection was possible
    _unusable: frozenset[tuple[str, str]] = frozenset()  # upstreams and models not asked again

    def __init__(
        self,
        targets: Sequence[Target],
        clock: Callable[[], float],
        dice: Callable[[], float],
        carries: Callable[[Target], bool] | None,
        make_slots: Callable[[float], RequestSlots],
    ) -> None:
        self.deadline = clock() + targets[0].upstream.timeouts.total
        self.attempts: dict[Target, int] = {}
        self._targets = targets
        self._waiting: Iterator[Target] = iter(targets)  # for their first attempt
        self._retries: list[Target] = []
        self._clock = clock
        self._dice = dice
        self._carries = carries
        self._make_slots = make_slots

    def next(self) -> Candidate | None:
        """The next target, whose attempt is counted here; None if no attempt is allowed."""
        while True:
            if candidate := self.next_unattempted():
                return candidate
            later = self._after_group or self._last
            if not later:
                break
            target = later.popleft()
            self._retries.append(target)
            if candidate := self._candidate(target, 0):
                return candidate
        while self._slots is not None and self._slots.full:
            if candidate := self._after_queues(self._slots):
                return candidate
        for target in sorted(self._retries, key=lambda target: self.attempts.get(target, 0)):
            if candidate := self._candidate(target, self.attempts.get(target, 0)):
                return candidate
        return None

    def next_unattempted(self, *, of_group: bool = True) -> Candidate | None:
        """The next target without an attempt that is not deferred and can be attempted at once;
        None without any. With `of_group` it is not of the next group while targets of the current
        one have little left and wait. May be called while another attempt runs."""
        now: float | None = None  # one time for all targets, which are compared with each other
        for target in self._waiting:
            if target.state.conditions:
                if now is None:
                    now = self._clock()
                later = self._after_group
                if later and of_group and later[0].entry != target.entry:
                    self._rest = self._rest or self._waiting
                    self._waiting = chain([target], self._rest)  # of the next group
                    return None
                if turn := target.state.turn(now):
                    self._defer(target, turn)
                    continue
            self._retries.append(target)
            if candidate := self._candidate(target, 0):
                return candidate
        return None

    def _defer(self, target: Target, turn: int) -> None:
        """Ask a target after the others of its group, or after all."""
        if turn == AFTER_GROUP:
            self._after_group = self._after_group or deque()
            self._after_group.append(target)
        else:
            self._last = self._last or deque()
            self._last.append(target)

    def hold_slots(self, candidate: Candidate) -> Slots | None:
        """Hold the slots for a candidate with bounds, after a wait if none is free; None if none
        became free in time. They are given back when the attempt fails."""
        return self._own_slots().hold(candidate.target, candidate.slots)

    def release(self, target: Target) -> None:
        """Give back the slots of an attempt that has ended."""
        if self._slots is not None:
            self._slots.release(target)

    def _own_slots(self) -> RequestSlots:
        if self._slots is None:
            self._slots = self._make_slots(self.deadline)
        return self._slots

    def _after_queues(self, slots: RequestSlots) -> Candidate | None:
        """The first target that gets its slots after a wait; None without any, or if that target
        may not be attempted any more."""
        if (admitted := slots.wait()) is None:
            return None
        target, admission = admitted
        candidate = self._candidate(target, 0, admission)
        if candidate is None:
            admission.cancel()
        return candidate

    def _candidate(
        self, target: Target, count: int, slots: Slots | None = None
    ) -> Candidate | None:
        """Count another attempt of a target after `count` attempts; None if it is not allowed now.
        A first attempt takes free slots, unless `slots` has them."""
        if self._carries is not None and not self._carries(target):
            return None
        if self._unusable and (target.upstream.name, target.model) in self._unusable:
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
        is_closed = breaker.opened_at is None  # nearly always
        if not is_closed and breaker.wait(moment):
            return None
        if target.gates and not count and slots is None:
            slots = self._own_slots().take(target)
            if slots is None:
                return None
        if not self._within_budget(target) or not (is_closed or breaker.allows(moment)):
            if slots is not None:
                slots.cancel()
            return None
        self.attempts[target] = count + 1
        return Candidate(target, credential, wait, slots)

    def _within_budget(self, target: Target) -> bool:
        """Whether the retry budget allows an attempt. The first attempt at an upstream takes
        nothing from its budget, nor does another address after addresses that could not be
        connected to: they have done no work."""
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
        """Seconds to wait before another attempt; None if none is allowed."""
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
        *,
        is_unusable: bool = False,
    ) -> None:
        """Apply a failure, by its class, to the breaker, the credential and the time of the next
        attempt. `retry_after` are the seconds that the upstream asks to wait; after an answer that
        `is_unusable` this model is not asked again there."""
        now = self._clock()
        self.release(target)
        # None: a backoff decides.
        self._ready = {**self._ready, target: None if retry_after is None else now + retry_after}
        if failure != "connect" or target not in self._unreached:
            target.state.failed(failure, now)  # one request counts refused connections once
        if is_unusable:
            self._unusable |= {(target.upstream.name, target.model)}
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
        if self._slots is not None and (refusal := self._slots.refusal()) is not None:
            return refusal
        now, targets = self._clock(), self._targets
        if all(target.upstream.credentials.all_refused(now) for target in targets):
            return credentials_refused()
        return unavailable(
            min(
                max(target.state.breaker.wait(now), target.upstream.credentials.wait(now))
                for target in targets
            )
        )
