"""The state of a target in one worker, and the observers of its attempts.

A target is *out* while its breaker is open: it gets no request. It is *asked last* while one of its
conditions is true, for example while it fails its health checks: the targets of all groups come
before it.

Every result of an attempt is reported here. A part of the gateway that needs the results is an
`AttemptObserver`; attempts at a target without observers have no overhead.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from engine.credentials.interface.credential import LiveCredential
from engine.exchange.request_record import RequestRecord
from engine.upstream.client.response import IncomingResponse
from engine.upstream.targets import retry
from engine.upstream.targets.answer_times import AnswerTimes
from engine.upstream.targets.breaker import CircuitBreaker
from engine.upstream.targets.credentials import CredentialLimits

ANSWERS, FAILURES, LOGS, WAITING, IN_FLIGHT = range(5)
"""The counters of a target in its record of the machine."""
EJECTED_UNTIL, EJECTIONS, REASON, NEARLY_UNTIL, USED_UP_UNTIL = range(5)
"""Its numbers. Those of the vendor's limits are for its first credential."""


def name_on_machine(name: str) -> str:
    """The name of a target's record in the state of the machine, by that of its `TargetState`."""
    return f"target/{name}"


class AttemptObserver(Protocol):
    """Is called for each attempt at a target: `began`, then `answered` or `failed`, neither if the
    caller left before, both if the response broke off; `ended` exactly once, at the end."""

    def began(self, attempt: OpenAttempt, /) -> None:
        """The request is about to be sent."""

    def answered(self, attempt: OpenAttempt, /) -> None:
        """The first content has arrived; the response is relayed to the caller."""

    def failed(self, attempt: OpenAttempt, /) -> None:
        """The attempt failed; its class is `attempt.failure` (see `retry`)."""

    def ended(self, attempt: OpenAttempt, /) -> None:
        """The connection is released. The usage of a response that was relayed is on
        `attempt.record`."""


class OpenAttempt:
    """An attempt, reported to the observers of its target.

    `start`, `first_content` and `end` are times of `clock`, None before they are known. `failure`
    is its class, "" for none. `response` is the relayed response, None if the upstream sent none;
    `headers` are the upstream's, unchanged. `record` is that of the request, `credential` the one
    that the request carries.
    """

    __slots__ = (
        "_observers",
        "clock",
        "credential",
        "end",
        "failure",
        "first_content",
        "headers",
        "record",
        "response",
        "start",
    )

    def __init__(
        self,
        observers: Sequence[AttemptObserver],
        record: RequestRecord,
        clock: Callable[[], float] = time.monotonic,
        credential: LiveCredential | None = None,
    ) -> None:
        self._observers = tuple(observers)  # a copy: the same ones get `began` and `ended`
        self.record = record
        self.credential = credential
        self.headers: Sequence[tuple[str, str]] = ()
        self.clock = clock
        self.start = clock()
        self.first_content: float | None = None
        self.end: float | None = None
        self.failure = ""
        self.response: IncomingResponse | None = None
        for observer in observers:
            observer.began(self)

    def answered(self) -> None:
        """Report that the first content has arrived."""
        self.first_content = self.clock()
        for observer in self._observers:
            observer.answered(self)

    def failed(self, failure: str) -> None:
        """Report that the attempt failed, or its response broke off."""
        self.failure = failure
        for observer in self._observers:
            observer.failed(self)

    def close(self) -> None:
        """Report that the attempt has ended; idempotent."""
        if self.end is None:
            self.end = self.clock()
            for observer in self._observers:
                observer.ended(self)


class Load(AttemptObserver, Protocol):
    """The load of a target (`engine.upstream.targets.target_load.TargetLoad`)."""

    times: AnswerTimes
    moves: Counter[str]
    """How often a session that was this target's went to another one, by reason."""

    @property
    def in_flight(self) -> int:
        """The requests that it is answering, of all workers of the machine."""


FIRST, AFTER_GROUP, LAST = range(3)
"""When a target is asked: in the order of `choose`, after the others of its group, after all."""


class Condition(Protocol):
    """Whether a target is asked later than others."""

    def turn(self, now: float, /) -> int:
        """FIRST, AFTER_GROUP or LAST at a time."""
        ...


class TargetState:
    """The state of one target in one worker, shared by the targets of one upstream with equal entry
    and name for the model.

    `name` identifies it on this machine: upstream, entry and name for the model. `key` are the
    parts of its label in metrics: entry, name for the model, and address if it has one. `observers`
    are called for each attempt. The `conditions` say when it is asked. `load` is one of the
    observers, None if no strategy needs it. `limits` say which of several credentials has enough
    left of the vendor's rate limits; None if that is not known.
    """

    __slots__ = (
        *("__weakref__", "breaker", "conditions", "key", "limits", "load", "name"),
        "observers",
    )

    def __init__(self, breaker: CircuitBreaker, name: str = "", key: tuple[str, ...] = ()) -> None:
        self.breaker = breaker
        self.name = name
        self.key = key
        self.load: Load | None = None
        self.observers: tuple[AttemptObserver, ...] = ()
        self.conditions: tuple[Condition, ...] = ()
        self.limits: CredentialLimits | None = None

    def turn(self, now: float) -> int:
        """FIRST, AFTER_GROUP or LAST: the last turn of its conditions."""
        last = FIRST
        for condition in self.conditions:
            if turn := condition.turn(now):
                if turn == LAST:
                    return LAST
                last = turn
        return last

    def failed(self, failure: str, now: float) -> None:
        """Record a failed attempt by its class (see `retry`), or a response that broke off."""
        if retry.counts_against_target(failure):
            self.breaker.failed(now)
        else:
            self.breaker.succeeded()  # the target works, although it refused this request
