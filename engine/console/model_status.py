"""GET /console/status.json, for the home page: which models this worker has seen healthy.

The answer has the entries of `models` and one of two words, never the name of an upstream: the page
needs no token. An entry that this worker has not asked yet is missing.
"""

from __future__ import annotations

import orjson
from cachetools import TTLCache, cached

from engine.console.asset import GUARDS
from engine.exchange.exchange import Exchange, Handler, Response
from engine.exchange.services import Services

_HEADERS = [("content-type", "application/json"), ("cache-control", "no-store"), *GUARDS]
_SECONDS = 2.0
"""How long an answer is used again: a config may have thousands of targets."""


def model_status(services: Services) -> Handler:
    """A handler that says which entries of `models` are healthy or degraded."""

    @cached(TTLCache(1, _SECONDS, services.monotonic))
    def body() -> bytes:
        health = services.health
        return orjson.dumps({"models": {} if health is None else dict(health.model_states())})

    def handle(exchange: Exchange) -> Response:
        return Response(200, [*_HEADERS], body())

    return handle
