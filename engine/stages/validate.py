"""Whether the request is what the document says: its parameters, its media type, its body."""

from __future__ import annotations

from engine.exchange import Exchange, Handler, Response, Stage
from engine.spec.bodies import check
from engine.spec.operation import Operation


def validate(operation: Operation, mode: str) -> Stage:
    """A stage that reads and parses the body, and refuses with the place in the request.

    Raises GatewayError 400, 408, 413 or 415. With mode `off` a body is parsed where that can be
    done, because the model is named in it, and nothing is checked.
    """
    bodies = operation.bodies
    checks = operation.parameters if mode != "off" else ()
    judge = mode != "off"

    def stage(exchange: Exchange, following: Handler) -> Response:
        if checks:
            operation.check_parameters(exchange)
        exchange.body = exchange.receive(exchange.max_body)
        exchange.on_end.append(exchange.body.close)
        rule = bodies.parse(exchange, judge)
        if rule is not None and judge:
            check(rule, exchange.value)
        return following(exchange)

    return stage
