"""`max_body: 10MB`: the largest request body on these routes; a larger one gets 413.

It can lower `server.max_body`, not raise it.
"""

from __future__ import annotations

from engine.config.json_schema import Schema
from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.stage_services import Services
from engine.policies.interface import StagePolicy
from engine.values import units

_SCHEMA: Schema = {
    "description": "Largest request body. A size: 512KB, 25MB, 1GiB.",
    "type": "string",
    "pattern": units.SIZE,
    "x-modelway": {"unit": "size"},
}


def _build(options: int, services: Services) -> Stage:
    def max_body(exchange: Exchange, following: Handler) -> Response:
        reader = exchange.body_reader
        reader.max_size = min(reader.max_size, options)
        return following(exchange)

    return max_body


POLICY = StagePolicy(schema=_SCHEMA, read=units.size, build=_build)
