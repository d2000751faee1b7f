"""Hedged requests: when a second attempt begins, which one counts, and what is recorded."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from weakref import ref

import gevent
import pytest
from gevent.event import Event

from engine import dialects
from engine.config.routes import Hedge
from engine.exchange.exchange import Exchange, Response
from engine.exchange.member_protocols import Metering
from engine.spec.expression import parse
from engine.upstream.admission.gate import Gate, GateConfig
from engine.upstream.attempts.hedge import SAMPLES, HedgeDelay, LatencyWindow
from engine.upstream.client.failures import FirstByteTimeout, Reset
from engine.upstream.forward import Forward
from engine.upstream.requests.route_headers import RouteHeaders
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_state import AFTER_GROUP, FIRST
from engine.values.errors import GatewayError
from engine.values.usage import Takes
from tests.support.admission import QueueInProcess
from tests.support.documents import exchange
from tests.support.exchanges import set_content
from tests.support.upstreams import (
    EVENTS,
    JSON,
    SERVICES,
    WATCHER,
    Client,
    FakeResponse,
    failure,
    group,
    target,
)

BODY = parse("$request.body#/model")
AT_ONCE = Hedge("1ms", idempotent=True)


def hedged(request: Exchange, *targets: Target, hedge: Hedge = AT_ONCE) -> Response:
    request.model.targets = targets
    return Forward(
        BODY,
        fixed=group(),
        dialect=dialects.get("openai"),
        headers=RouteHeaders([each.upstream for each in targets]),
        services=SERVICES,
        watcher=WATCHER,
        hedge=hedge,
    )(request)


def chat() -> Exchange:
    request = exchange(b'{"model": "asked"}', path="/v1/chat")
    request.mount, request.model.name = "/v1", "asked"
    set_content(request, media_type="application/json", value={"model": "asked"})
    request.model.span = BODY.check(request)[1]
    return request


def slow(name: str = "slow", until: Callable[[], Any] | None = None, *more: Any) -> Target:
    """A target that does not answer before `until` returns."""
    return target(Client(*more, during=until or Event().wait), name=name)


def quick(name: str = "quick", *more: Any) -> Target:
    return target(Client(*more), name=name)


def request_count(of: Target) -> int:
    client: Any = of.upstream.client
    return len(client.requests)


def failures(request: Exchange) -> list[tuple[str, str]]:
    return [(attempt.upstream, attempt.failure) for attempt in request.record.attempts]


def test_a_slow_attempt_gets_a_second_one_which_the_caller_gets():
    request, first, second = chat(), slow(), quick()
    response = hedged(request, first, second)
    assert response.status == 200
    assert (request_count(first), request_count(second)) == (1, 1)
    record = request.record
    assert failures(request) == [("slow", "cancelled"), ("quick", "")]
    assert (record.upstream, record.attempt_count) == ("quick", 2)
    assert record.reached_upstream
    assert record.first_byte is not None


def test_what_the_other_attempt_has_reported_is_kept():
    """A stream that began with a report of the input, and then waited."""
    start = b'data: {"choices":[],"usage":{"prompt_tokens":25,"completion_tokens":0}}\n\n'

    class Waiting(FakeResponse):
        def read(self, *args, **more):
            if not self.pieces:
                Event().wait()
            return super().read(*args, **more)

    request = chat()
    request.metering = Metering(Takes())
    first = quick("first", Waiting(200, EVENTS, [start]))
    assert hedged(request, first, quick()).status == 200
    assert failures(request) == [("first", "cancelled"), ("quick", "")]
    [unused] = request.record.unused
    assert (unused.upstream, unused.usage.input, unused.usage.output) == ("first", 25, 0)


def test_the_answer_that_comes_second_is_kept():
    """Both have content before either is looked at."""
    answer = b'{"choices":[],"usage":{"prompt_tokens":25,"completion_tokens":7}}'
    both = Event()
    request = chat()
    request.metering = Metering(Takes())
    clients = [Client(FakeResponse(200, JSON, [answer]), during=both.wait) for _ in range(2)]
    gevent.spawn_later(0.05, both.set)
    targets = [target(client, name=name) for client, name in zip(clients, "ab", strict=True)]
    assert hedged(request, *targets).status == 200
    assert [each.usage.output for each in request.record.unused] == [7]


class Turn:
    """A condition that always gives the same turn."""

    def __init__(self, turn: int) -> None:
        self._turn = turn

    def turn(self, now: float) -> int:
        return self._turn


def test_a_second_attempt_goes_to_a_fallback_rather_than_to_a_target_with_little_left():
    request, first, little, fallback = chat(), slow(), quick("little"), quick("fallback")
    little.state.conditions = (Turn(AFTER_GROUP),)
    fallback.state.conditions = (Turn(FIRST),)
    assert hedged(request, first, little, replace(fallback, entry="fallback")).status == 200
    assert failures(request) == [("slow", "cancelled"), ("fallback", "")]


def test_a_quick_attempt_gets_no_second_one():
    request, first, second = chat(), quick("first"), quick("second")
    hedged(request, first, second, hedge=Hedge("60s", idempotent=True))
    assert (request_count(first), request_count(second)) == (1, 0)
    assert failures(request) == [("first", "")]


def test_the_first_one_may_still_win():
    go = Event()
    request, first, second = chat(), slow("first", go.wait), slow("second")
    gevent.spawn_later(0.05, go.set)
    assert hedged(request, first, second).status == 200
    assert failures(request) == [("first", ""), ("second", "cancelled")]
    assert request.record.upstream == "first"


def test_without_another_target_there_is_one_attempt():
    go = Event()
    request, only = chat(), slow("only", go.wait)
    gevent.spawn_later(0.05, go.set)
    assert hedged(request, only).status == 200
    assert request_count(only) == 1


def test_where_the_second_one_fails_the_first_counts():
    go = Event()
    request, first = chat(), slow("first", go.wait)
    second = quick("second", failure(Reset))
    gevent.spawn_later(0.05, go.set)
    assert hedged(request, first, second).status == 200
    assert failures(request) == [("first", ""), ("second", "reset")]


def test_where_both_fail_the_next_target_is_attempted():
    go = Event()
    first = slow("first", go.wait, failure(Reset))
    second, third = quick("second", failure(Reset)), quick("third")
    request = chat()
    gevent.spawn_later(0.05, go.set)
    assert hedged(request, first, second, third).status == 200
    assert failures(request) == [("first", "reset"), ("second", "reset"), ("third", "")]


def test_where_all_fail_the_last_failure_is_the_answer():
    request = chat()
    with pytest.raises(GatewayError) as excinfo:
        hedged(request, quick("one", failure(FirstByteTimeout)), quick("two"))
    assert excinfo.value.status == 504


def test_a_cancelled_attempt_gives_its_place_back():
    gate = Gate("slow", "", GateConfig(1), QueueInProcess())
    first = replace(slow(), gates=(gate,))
    request = chat()
    hedged(request, first, quick())
    assert gate.figures().in_flight == 0


def test_a_target_without_a_free_place_gets_no_second_attempt():
    go = Event()
    gate = Gate("full", "", GateConfig(1), QueueInProcess())
    gate.try_enter(1)
    first, second = slow("first", go.wait), replace(quick("full"), gates=(gate,))
    gevent.spawn_later(0.05, go.set)
    request = chat()
    assert hedged(request, first, second).status == 200
    assert request_count(second) == 0


def test_when_the_caller_leaves_both_attempts_end():
    request, first, second = chat(), slow("first"), slow("second")
    forwarding = gevent.spawn(hedged, request, first, second)
    with gevent.Timeout(10):
        while not request_count(second):
            gevent.sleep(0.001)
    forwarding.kill()
    record = request.record
    assert (record.attempt_count, record.attempts, record.reached_upstream) == (2, [], True)


def test_a_response_is_read_by_the_exchange_of_the_request():
    """Usage of a translated response is read through what the winner's attempt has set."""
    request = chat()
    response = hedged(request, slow(), quick("quick", FakeResponse(body=[b'{"ok":1}'])))
    assert response.body == b'{"ok":1}' or list(response.body) == [b'{"ok":1}']


def test_a_percentile_needs_samples():
    window = LatencyWindow(0.95)
    for _ in range(SAMPLES - 1):
        window.note(1.0)
    assert window.percentile is None
    window.note(1.0)
    assert window.percentile == 1.0


def test_a_percentile_is_that_of_the_last_times():
    window = LatencyWindow(0.95)
    for number in range(100):
        window.note(float(number))
    assert window.percentile == 95.0
    for _ in range(200):
        window.note(7.0)
    assert window.percentile == 7.0


def test_the_percentile_is_that_of_the_target():
    delay, one, other = HedgeDelay("p50"), quick("one"), quick("other")
    for number in range(100):
        delay.note(one, float(number))
    assert delay.of(one) == 50.0
    assert delay.of(other) is None


def test_a_fixed_delay_needs_no_samples():
    delay = HedgeDelay("250ms")
    delay.note(quick(), 9.0)
    assert delay.of(quick()) == 0.25


def test_with_a_percentile_the_first_requests_are_not_hedged():
    hedge = Hedge("p95", idempotent=True)
    go = Event()
    gevent.spawn_later(0.05, go.set)
    first, second = slow("first", go.wait), quick("second")
    assert hedged(chat(), first, second, hedge=hedge).status == 200
    assert request_count(second) == 0


def test_cancelled_times_count_so_that_the_percentile_does_not_sink():
    """A twentieth of the requests is slow and cancelled at the percentile."""
    window = LatencyWindow(0.95)
    for number in range(1000):
        slow_one = number % 20 == 0
        window.note(1.0 if not slow_one else max(1.0, window.percentile or 9.0))
    assert window.percentile is not None
    assert window.percentile >= 1.0


def test_times_of_a_target_that_went_away_are_forgotten() -> None:
    delay, gone = HedgeDelay("p95"), quick()
    for _ in range(SAMPLES):
        delay.note(gone, 1.0)
    state = ref(gone.state)
    assert delay.of(gone) == 1.0
    del gone
    gc.collect()
    assert state() is None
