"""Receiving the body of a request: it is read and parsed, and checked against no schema yet."""

from __future__ import annotations

from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.stages.validate import Checks, refusal_of
from engine.values.errors import GatewayError


def receive(checks: Checks) -> Stage:
    """A stage that reads and parses the body.

    Raises GatewayError 400, 408, 413 or 415. With mode `report` a body that cannot be parsed is
    reported.
    """
    bodies, validates, refuse = checks.bodies, checks.validates, refusal_of(checks.mode)

    def stage(exchange: Exchange, following: Handler) -> Response:
        body = exchange.body = exchange.receive(exchange.max_body)
        if body.in_memory is None:
            exchange.on_end.append(body.close)
        if bodies is not None:
            try:
                bodies.parse(exchange, validates)
            except GatewayError as error:
                refuse(exchange, error)
        return following(exchange)

    return stage
