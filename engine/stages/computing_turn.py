"""Requests that compute for long: in a process that serves large requests only they take turns
(`exchange/large_request_turns.py`), and everywhere the event loop goes on meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps

from engine.exchange.caller_connection import CallerConnection
from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.large_request_turns import Turns
from engine.exchange.request_body import ReceivedBody
from engine.process.loop_turn import FEW_BYTES, await_turn
from engine.process.preemption import PREEMPTION

Watch = Callable[[CallerConnection], AbstractContextManager[None]]
"""Raises AbortConnection within the context if the caller leaves."""


def take_turn(turns: Turns, watch: Watch) -> Stage:
    """A stage that receives the body, and then waits for a turn. Raises GatewayError 503 if too
    many wait, AbortConnection if the caller leaves."""

    def stage(exchange: Exchange, following: Handler) -> Response:
        reader = exchange.body_reader
        body = reader.receive()
        exchange.on_end.append(body.close)
        exchange.body_reader = ReceivedBody(body, reader.max_size)
        try:
            with watch(exchange.connection):
                turns.begin(exchange, exchange.caller.name if exchange.caller is not None else "")
            return following(exchange)
        finally:
            turns.end(exchange)

    return stage


def in_parts(stage: Stage) -> Stage:
    """A stage that only computes, for up to seconds: meanwhile the event loop goes on, so that
    answers of other requests are sent. What follows is not interrupted."""

    def computing(exchange: Exchange, following: Handler) -> Response:
        def follow(exchange: Exchange) -> Response:
            PREEMPTION.end()
            return following(exchange)

        try:
            PREEMPTION.begin()
            return stage(exchange, follow)
        finally:
            PREEMPTION.end()

    return computing


def in_parts_if_long(stage: Stage) -> Stage:
    """The same for a stage of a process that serves other requests: only one whose body has more
    than a few bytes is interrupted, which has been parsed and validated in this turn of the loop.
    """
    long = in_parts(stage)

    @wraps(stage)  # whose name `explain` prints
    def computing(exchange: Exchange, following: Handler) -> Response:
        if exchange.body.size <= FEW_BYTES:
            return stage(exchange, following)
        await_turn()
        return long(exchange, following)

    return computing


def end_turn(turns: Turns) -> Stage:
    """A stage behind everything that computes."""

    def stage(exchange: Exchange, following: Handler) -> Response:
        turns.end(exchange)
        return following(exchange)

    return stage
