"""Receiving the body of a request: it is read and parsed, and checked against no schema yet."""

from __future__ import annotations

from collections.abc import Callable

from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.stages.validate import Checks, refusal_of
from engine.values.errors import GatewayError

LARGE = 65_536
"""Bytes of a body whose parsing takes much longer than skimming it for a name."""


def receive(checks: Checks, check_large: Callable[[Exchange], None] | None = None) -> Stage:
    """A stage that reads and parses the body. `check_large` sees a large one before it is parsed.

    Raises GatewayError 400, 408, 413 or 415. With mode `report` a body that cannot be parsed is
    reported.
    """
    bodies, validates, refuse = checks.bodies, checks.validates, refusal_of(checks.mode)

    def stage(exchange: Exchange, following: Handler) -> Response:
        body = exchange.body = exchange.body_reader.receive()
        if body.in_memory is None:
            exchange.on_end.append(body.close)
        if bodies is not None:
            if body.size > LARGE and check_large is not None:
                check_large(exchange)
            try:
                bodies.parse(exchange, validates)
            except GatewayError as error:
                refuse(exchange, error)
        return following(exchange)

    return stage
