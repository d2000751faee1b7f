"""`allow_operations: [openai.*]`: the operations that are served; others get 403."""

from __future__ import annotations

from engine.config.json_schema import Schema
from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.stage_services import Services
from engine.policies.interface import StagePolicy
from engine.values.errors import GatewayError
from engine.values.wildcard import Patterns

_SCHEMA: Schema = {
    "description": "Operations that are served, with wildcards: openai.*.",
    "type": "array",
    "minItems": 1,
    "items": {"type": "string", "minLength": 1},
}


def _build(options: Patterns, services: Services) -> Stage:
    def allow_operations(exchange: Exchange, following: Handler) -> Response:
        if not options.match(exchange.operation):
            message = f"The operation '{exchange.operation}' may not be called here."
            raise GatewayError(403, "operation_not_allowed", message)
        return following(exchange)

    return allow_operations


POLICY = StagePolicy(schema=_SCHEMA, read=Patterns, build=_build)
