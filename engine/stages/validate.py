"""Whether the request is what the document says: its parameters, its media type, its body."""

from __future__ import annotations

from engine.exchange import Exchange, Handler, Response, Stage
from engine.spec.bodies import check
from engine.spec.operation import Operation


def validate(operation: Operation, mode: str, names_model: bool = False) -> Stage:
    """A stage that reads and parses the body, and refuses with the place in the request.

    Raises GatewayError 400, 408, 413 or 415. With mode `off` nothing is checked; the body is
    parsed only where the model is named in it (`names_model`).
    """
    bodies = operation.bodies
    judge = mode != "off"
    checks = operation.parameters if judge else ()
    parse = judge or names_model

    def stage(exchange: Exchange, following: Handler) -> Response:
        if checks:
            operation.check_parameters(exchange)
        exchange.body = exchange.receive(exchange.max_body)
        exchange.on_end.append(exchange.body.close)
        rule = bodies.parse(exchange, judge) if parse else None
        if rule is not None and judge:
            check(rule, exchange.value)
        return following(exchange)

    return stage
