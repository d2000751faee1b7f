"""Observers of a target are told how each attempt ended, and nothing stays in flight."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from gevent import GreenletExit

from engine import dialects
from engine.config.upstreams import BreakerConfig, Retry
from engine.exchange.exchange import Exchange, Response
from engine.upstream.client import failures
from engine.upstream.forward import Forward
from engine.upstream.requests.route_headers import RouteHeaders
from engine.upstream.targets.breaker import CircuitBreaker
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_state import (
    AFTER_GROUP,
    FIRST,
    LAST,
    OpenAttempt,
    TargetState,
)
from engine.values.errors import AbortConnection, AbortReason, GatewayError
from tests.support.documents import exchange
from tests.support.each import each
from tests.support.upstreams import (
    EVENTS,
    SERVICES,
    WATCHER,
    Client,
    FakeResponse,
    failure,
    group,
    target,
)


class Recorder:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.attempts: list[OpenAttempt] = []

    def began(self, attempt: OpenAttempt) -> None:
        self.log.append("began")
        self.attempts.append(attempt)

    def answered(self, attempt: OpenAttempt) -> None:
        assert attempt.response is not None
        self.log.append("answered")

    def failed(self, attempt: OpenAttempt) -> None:
        self.log.append(f"failed {attempt.failure}")

    def ended(self, attempt: OpenAttempt) -> None:
        self.log.append("ended")


def observed(client: Client, **more: Any) -> tuple[Target, Recorder]:
    observed_target, recorder = target(client, **more), Recorder()
    observed_target.state.observers += (recorder,)
    return observed_target, recorder


def forward(request: Exchange, *targets: Target) -> Response:
    request.model.targets, request.model.name = targets, "m"
    return Forward(
        None,
        fixed=group(),
        dialect=dialects.get("openai"),
        headers=RouteHeaders([each.upstream for each in targets]),
        services=SERVICES,
        watcher=WATCHER,
    )(request)


def play(request: Exchange, *targets: Target) -> None:
    """Forward a request, send the response as far as it comes, and end the exchange."""
    try:
        with suppress(GatewayError, AbortConnection, GreenletExit):
            body = forward(request, *targets).body
            if not isinstance(body, bytes):
                for _ in body:
                    pass
    finally:
        request.end()


def leave(error: BaseException) -> Callable[[], None]:
    def during() -> None:
        raise error

    return during


BROKEN = failure(failures.Truncated, request_sent=True, response_started=True)
ENDINGS: list[tuple[str, Client, list[str]]] = [
    ("complete", Client(FakeResponse(has_length=True)), ["answered"]),
    ("relayed", Client(FakeResponse(body=[b"{", b"}"])), ["answered"]),
    ("a refusal of the upstream", Client(FakeResponse(404)), ["answered"]),
    ("a redirect", Client(FakeResponse(302)), ["answered"]),
    ("a stream", Client(FakeResponse(200, EVENTS, [b"data: 1\n\n"])), ["answered"]),
    ("an error status", Client(FakeResponse(500)), ["failed 5xx"]),
    ("too many requests", Client(FakeResponse(429)), ["failed 429"]),
    ("no connection", Client(failure(failures.ConnectFailed)), ["failed connect"]),
    (
        "an error event first",
        Client(FakeResponse(200, EVENTS, [b'data: {"error":{"message":"no"}}\n\n'])),
        ["failed error"],
    ),
    (
        "a stream that breaks off",
        Client(FakeResponse(200, EVENTS, [b"data: 1\n\n", BROKEN])),
        ["answered", "failed reset"],
    ),
    (
        "a body that breaks off",
        Client(FakeResponse(200, [("content-type", "audio/mpeg")], [b"a", b"b", BROKEN])),
        ["answered", "failed reset"],
    ),
    (
        "the caller left",
        Client(during=leave(AbortConnection(AbortReason.CALLER_LEFT))),
        [],
    ),
    ("the worker ends", Client(during=leave(GreenletExit())), []),
    ("a fault of ours", Client(during=leave(RuntimeError("bug"))), []),
]


@each(("name", "client", "expected"), ENDINGS)
def test_every_attempt_ends_once_whatever_happened(
    name: str, client: Client, expected: list[str]
) -> None:
    observed_target, recorder = observed(client)
    with suppress(RuntimeError):
        play(exchange(b"{}"), observed_target)
    assert recorder.log == ["began", *expected, "ended"], name


def test_a_failed_attempt_has_ended_before_the_next_begins() -> None:
    log: list[str] = []
    first, one = observed(Client(FakeResponse(500)), name="a")
    second, other = observed(Client(), name="b")
    one.log = other.log = log
    play(exchange(b"{}"), first, second)
    assert log == ["began", "failed 5xx", "ended", "began", "answered", "ended"]


def test_a_stream_that_the_caller_leaves_has_ended() -> None:
    observed_target, recorder = observed(
        Client(FakeResponse(200, EVENTS, [b"data: 1\n\n", b"data: 2\n\n"]))
    )
    request = exchange(b"{}")
    body = forward(request, observed_target).body
    assert not isinstance(body, bytes)
    next(iter(body))
    assert recorder.log == ["began", "answered"]
    request.end()
    assert recorder.log == ["began", "answered", "ended"]


def test_an_attempt_has_its_times_in_order() -> None:
    observed_target, recorder = observed(Client())
    request = exchange(b"{}")
    play(request, observed_target)
    [attempt] = recorder.attempts
    assert attempt.first_content is not None
    assert attempt.end is not None
    assert attempt.start <= attempt.first_content <= attempt.end
    assert attempt.record is request.record


class Always:
    """A condition that always gives the same place."""

    def __init__(self, place: int) -> None:
        self._place = place

    def turn(self, now: float) -> int:
        return self._place


def test_targets_that_are_asked_last_come_after_all_others_in_their_order() -> None:
    targets = [target(Client(FakeResponse(500)), name=name) for name in "abcd"]
    for last in targets[:2]:
        last.state.conditions = (Always(LAST),)
    request = exchange(b"{}")
    play(request, *targets)
    assert [attempt.target for attempt in request.record.attempts] == ["c", "d", "a", "b"]


def of_entry(entry: str, *places: int) -> list[Target]:
    """Targets that fail, of a model, with their places; their names have the model's letter."""
    targets = []
    for number, place in enumerate(places):
        failing = target(Client(FakeResponse(500)), name=f"{entry}{number}")
        failing.state.conditions = (Always(place),)
        targets.append(replace(failing, entry=entry))
    return targets


@each("first, second, order", [
    ((AFTER_GROUP, FIRST, AFTER_GROUP), (AFTER_GROUP, FIRST), "a1 a0 a2 b1 b0"),
    ((AFTER_GROUP, AFTER_GROUP), (FIRST,), "a0 a1 b0"),
    ((AFTER_GROUP, LAST), (LAST, FIRST), "a0 b1 a1 b0"),
])  # fmt: skip
def test_targets_with_little_left_come_after_the_others_of_their_group_alone(
    first: tuple[int, ...], second: tuple[int, ...], order: str
) -> None:
    request = exchange(b"{}")
    play(request, *of_entry("a", *first), *of_entry("b", *second))
    assert [attempt.target for attempt in request.record.attempts] == order.split()


def test_the_last_place_of_the_conditions_of_a_target_counts() -> None:
    targets = [target(Client(FakeResponse(500)), name=name) for name in "abc"]
    targets[0].state.conditions = (Always(AFTER_GROUP), Always(LAST))
    targets[1].state.conditions = (Always(AFTER_GROUP), Always(FIRST))
    request = exchange(b"{}")
    play(request, *targets)
    assert [attempt.target for attempt in request.record.attempts] == ["c", "b", "a"]


def test_a_target_whose_conditions_do_not_hold_is_asked_in_its_turn() -> None:
    targets = [target(Client(FakeResponse(500)), name=name) for name in "ab"]
    targets[0].state.conditions = (Always(FIRST),)
    request = exchange(b"{}")
    play(request, *targets)
    assert [attempt.target for attempt in request.record.attempts] == ["a", "b"]


def test_a_target_that_is_asked_last_is_attempted_where_there_is_no_other() -> None:
    only = target(Client(), retry=Retry(attempts=1))
    only.state.conditions = (Always(LAST),)
    assert forward(exchange(b"{}"), only).status == 200


@pytest.mark.parametrize(("failure", "opens"), [("5xx", True), ("429", False)])
def test_failures_that_count_open_the_breaker(failure: str, opens: bool) -> None:
    state = TargetState(CircuitBreaker(BreakerConfig(failures=1)))
    state.failed(failure, 10.0)
    assert (state.breaker.wait(10.0) > 0) == opens
