"""The stages that read a request and compare it with its document, as one handler."""

from __future__ import annotations

from engine.exchange.exchange import Exchange, Response, compose
from engine.stages.receive import receive
from engine.stages.validate import Checks, validate_body, validate_parameters


def checked(checks: Checks, request: Exchange) -> Exchange:
    """The request that the handler behind the stages gets. Raises GatewayError."""
    passed: list[Exchange] = []

    def last(exchange: Exchange) -> Response:
        passed.append(exchange)
        return Response(200, [])

    stages = [*validate_parameters(checks), receive(checks), *validate_body(checks)]
    compose(stages, last)(request)
    return passed[0]
