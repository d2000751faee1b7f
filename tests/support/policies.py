"""Runs a policy on a request."""

from __future__ import annotations

from typing import Any

from engine.exchange.exchange import Response
from engine.exchange.stage_services import Services
from engine.policies.interface import StagePolicy
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange


def passes(
    kind: StagePolicy[Any], options: Any, services: Services | None = None, **fields: Any
) -> bool:
    """Whether a request with these fields passes a policy; else it is refused with 403."""
    exchange = new_exchange("GET", **fields)
    stage = kind.build(kind.read(options), services or Services())
    try:
        stage(exchange, lambda _: Response(200, []))
    except GatewayError as error:
        if error.status != 403:
            raise
        return False
    return True
