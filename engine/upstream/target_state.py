"""What one worker knows of a target, and what it is told of every attempt at it.

A target is *out* while its breaker is open: it gets no request. It is *asked last* while one of its
conditions holds, for example while it fails its health checks: targets of all groups come before
it.

How an attempt ended is told here and nowhere else. `AttemptObserver` is for what a part of the
gateway has to know of that; an attempt at a target without observers costs nothing more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from engine.credentials.interface.credential import LiveCredential
from engine.exchange.record import RequestRecord
from engine.upstream import retry
from engine.upstream.answer_times import AnswerTimes
from engine.upstream.breaker import CircuitBreaker
from engine.upstream.client.response import IncomingResponse
from engine.upstream.credentials import CredentialLimits
from engine.values.machine_state import SharedCounter


class AttemptObserver(Protocol):
    """Is told of each attempt at a target: `began`, then `answered` or `failed`, neither if the
    caller left before, both if the response broke off; `ended` exactly once, at last."""

    def began(self, attempt: OpenAttempt, /) -> None:
        """The request is about to be sent."""

    def answered(self, attempt: OpenAttempt, /) -> None:
        """The first content has arrived; the response is relayed to the caller."""

    def failed(self, attempt: OpenAttempt, /) -> None:
        """It failed, by the class `attempt.failure` (see `retry`)."""

    def ended(self, attempt: OpenAttempt, /) -> None:
        """The connection is released, and nothing of the attempt is in flight any more. The usage
        of a response that was relayed is on `attempt.record`."""


class OpenAttempt:
    """An attempt that is told to the observers of its target.

    `start`, `first_content` and `end` are times of `clock`, None before they happened.
    `failure` is its class, "" for none; `response` is the upstream's, if it sent one, as it is
    relayed, `headers` are its headers as they came. `record` is that of the request, `credential`
    the one that the request carries.
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
        self._observers = tuple(observers)  # those that are told of its end, too
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
        """The first content has arrived."""
        self.first_content = self.clock()
        for observer in self._observers:
            observer.answered(self)

    def failed(self, failure: str) -> None:
        """It failed, or its response broke off."""
        self.failure = failure
        for observer in self._observers:
            observer.failed(self)

    def close(self) -> None:
        """The attempt has ended; once is enough."""
        if self.end is None:
            self.end = self.clock()
            for observer in self._observers:
                observer.ended(self)


class Load(AttemptObserver, Protocol):
    """The load of a target (`engine.upstream.target_load.TargetLoad`)."""

    in_flight: SharedCounter
    times: AnswerTimes


class TargetState:
    """The state of one target in one worker, shared by the targets of one upstream that have the
    same entry and name for the model.

    `name` identifies it on this machine: upstream, entry and name for the model. `observers` are
    told of each attempt; `conditions` are called with the time, and while one of them is true the
    target is asked last. `load` is one of the observers, None where no strategy needs it. `limits`
    say which of several credentials has enough left of the vendor's rate limits, None where that is
    not known.
    """

    __slots__ = ("__weakref__", "breaker", "conditions", "limits", "load", "name", "observers")

    def __init__(self, breaker: CircuitBreaker, name: str = "") -> None:
        self.breaker = breaker
        self.name = name
        self.load: Load | None = None
        self.observers: list[AttemptObserver] = []
        self.conditions: list[Callable[[float], bool]] = []
        self.limits: CredentialLimits | None = None

    def asked_last(self, now: float) -> bool:
        """Whether all other targets come before this one."""
        return any(condition(now) for condition in self.conditions)

    def succeeded(self) -> None:
        """An attempt got a response that can be relayed."""
        self.breaker.succeeded()

    def failed(self, failure: str, now: float) -> None:
        """An attempt failed, by its class (see `retry`), or its response broke off."""
        if retry.counts_against_target(failure):
            self.breaker.failed(now)
        else:
            self.breaker.succeeded()  # it is up, although it refused this request
