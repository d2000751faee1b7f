"""In a process for large requests each waits for its turn behind the body, and ends it before it is
sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gevent
import pytest

from engine.exchange.caller_connection import CallerConnection
from engine.exchange.exchange import Exchange, Handler, Response, compose
from engine.exchange.large_request_turns import Turns
from engine.exchange.request_body import Body
from engine.process.loop_turn import FEW_BYTES
from engine.process.preemption import INTERVAL, Preemption
from engine.stages.computing_turn import end_turn, in_parts, in_parts_if_long, take_turn
from engine.values.errors import AbortConnection, AbortReason, GatewayError
from tests.support.exchanges import BodySource, new_exchange
from tests.support.preempting import interrupting, until_set
from tests.support.waiting import PATIENCE


class Stack:
    """A stack with both stages: `computing` are the requests that compute, `sent` those that were
    sent and wait for `answer`."""

    def __init__(self, most: int = 10) -> None:
        turns = Turns(most)
        self.computing: list[str] = []
        self.sent: list[str] = []
        self.go, self.answer = gevent.event.Event(), gevent.event.Event()
        self.leaves = gevent.event.Event()
        stages = [take_turn(turns, self._watch), self._compute, end_turn(turns)]
        self._handler = compose(stages, self._send)

    @contextmanager
    def _watch(self, connection: CallerConnection) -> Iterator[None]:
        """Raises AbortConnection in who waits when the caller `leaves`."""
        leaving = gevent.spawn(self._throw, gevent.getcurrent())
        try:
            yield
        finally:
            leaving.kill(block=False)

    def _throw(self, greenlet: gevent.Greenlet) -> None:
        self.leaves.wait()
        gevent.get_hub().loop.run_callback(greenlet.throw, AbortConnection(AbortReason.CALLER_LEFT))

    def _compute(self, exchange: Exchange, following: Handler) -> Response:
        assert exchange.body_reader.receive().in_memory == b"body"
        self.computing.append(exchange.path)
        self.go.wait()
        if exchange.path == "/bad":
            raise GatewayError(400, "invalid_value", "No.")
        return following(exchange)

    def _send(self, exchange: Exchange) -> Response:
        self.sent.append(exchange.path)
        self.answer.wait()
        return Response(200, [])

    def arrive(self, path: str, receive: Any = lambda limit: Body(b"body")) -> gevent.Greenlet:
        exchange = new_exchange(path=path, body_reader=BodySource(receive))
        greenlet = gevent.spawn(self._handler, exchange)
        gevent.sleep(0)
        return greenlet


def test_a_request_computes_when_the_one_before_was_sent() -> None:
    stack = Stack()
    first, second = stack.arrive("/1"), stack.arrive("/2")
    assert stack.computing == ["/1"]
    stack.go.set()
    gevent.sleep(0.01)
    assert (stack.computing, stack.sent) == (["/1", "/2"], ["/1", "/2"])
    stack.answer.set()
    assert [each.get(timeout=PATIENCE).status for each in (first, second)] == [200, 200]


def test_a_caller_who_leaves_loses_the_turn() -> None:
    stack = Stack()
    first, leaving = stack.arrive("/1"), stack.arrive("/2")
    gevent.sleep(0.01)
    stack.leaves.set()
    with pytest.raises(AbortConnection):
        leaving.get(timeout=PATIENCE)
    stack.go.set()
    stack.answer.set()
    assert first.get(timeout=PATIENCE).status == 200
    assert stack.computing == ["/1"]


def test_a_refused_request_ends_its_turn() -> None:
    stack = Stack()
    refused, following = stack.arrive("/bad"), stack.arrive("/2")
    stack.go.set()
    stack.answer.set()
    with pytest.raises(GatewayError):
        refused.get(timeout=PATIENCE)
    assert following.get(timeout=PATIENCE).status == 200


def test_a_body_that_arrives_slowly_holds_no_turn() -> None:
    stack, arrives = Stack(), gevent.event.Event()

    def receive(limit: int | None) -> Body:
        arrives.wait()
        return Body(b"body")

    slow, fast = stack.arrive("/slow", receive), stack.arrive("/fast")
    stack.go.set()
    stack.answer.set()
    assert fast.get(timeout=PATIENCE).status == 200
    arrives.set()
    assert slow.get(timeout=PATIENCE).status == 200


def test_a_request_that_was_sent_takes_no_place() -> None:
    stack = Stack(most=0)
    stack.go.set()
    first = stack.arrive("/1")
    gevent.sleep(0.01)
    second = stack.arrive("/2")
    assert stack.sent == ["/1", "/2"]
    stack.answer.set()
    assert [each.get(timeout=PATIENCE).status for each in (first, second)] == [200, 200]


def test_a_request_beyond_those_that_may_wait_is_refused() -> None:
    stack = Stack(most=1)
    first, second = stack.arrive("/1"), stack.arrive("/2")
    with pytest.raises(GatewayError, match="Too many requests with large bodies"):
        stack.arrive("/3").get(timeout=PATIENCE)
    stack.go.set()
    stack.answer.set()
    assert [each.get(timeout=PATIENCE).status for each in (first, second)] == [200, 200]


def test_a_stage_in_parts_lets_others_go_on_until_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    preemption, running = Preemption(), list[bool]()
    monkeypatch.setattr("engine.stages.computing_turn.PREEMPTION", preemption)
    others = gevent.event.Event()

    def compute(exchange: Exchange, following: Handler) -> Response:
        running.append(until_set(others))
        return following(exchange)

    def send(exchange: Exchange) -> Response:
        others.clear()
        gevent.spawn(others.set)
        running.append(until_set(others, 10 * INTERVAL))
        return Response(200, [])

    with interrupting(preemption):
        handler = compose([in_parts(compute)], send)
        gevent.spawn(others.set)
        assert gevent.spawn(handler, new_exchange(BodySource(b""))).get().status == 200
    assert running == [True, False]


def test_a_stage_in_parts_that_fails_is_interrupted_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    preemption, others = Preemption(), gevent.event.Event()
    monkeypatch.setattr("engine.stages.computing_turn.PREEMPTION", preemption)

    def refuse(exchange: Exchange, following: Handler) -> Response:
        raise GatewayError(400, "invalid_value", "No.")

    with interrupting(preemption):
        with pytest.raises(GatewayError):
            in_parts(refuse)(new_exchange(BodySource(b"")), lambda exchange: Response(200, []))
        gevent.spawn(others.set)
        assert not until_set(others, 10 * INTERVAL)


def test_elsewhere_only_a_stage_with_a_long_body_is_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    preemption, running = Preemption(), list[bool]()
    monkeypatch.setattr("engine.stages.computing_turn.PREEMPTION", preemption)

    def compute(exchange: Exchange, following: Handler) -> Response:
        others = gevent.event.Event()
        gevent.spawn(others.set)
        is_long = exchange.body.size > FEW_BYTES
        running.append(until_set(others, PATIENCE if is_long else 10 * INTERVAL))
        return following(exchange)

    with interrupting(preemption):
        handler = compose([in_parts_if_long(compute)], lambda exchange: Response(200, []))
        for size in (FEW_BYTES, FEW_BYTES + 1):
            exchange = new_exchange(BodySource(b""))
            exchange.body = Body(b"x" * size)
            gevent.spawn(handler, exchange).get()
    assert running == [False, True]
