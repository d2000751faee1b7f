"""`allow_models: [gpt-4o*]`: the models that may be requested on these routes; others get 403."""

from __future__ import annotations

from engine.config.json_schema import Schema
from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.stage_services import Services
from engine.policies.interface import Moment, StagePolicy
from engine.values.errors import GatewayError
from engine.values.wildcard import Patterns

_SCHEMA: Schema = {
    "description": "Models that may be requested, with wildcards.",
    "type": "array",
    "minItems": 1,
    "items": {"type": "string", "minLength": 1},
}


def _build(options: Patterns, services: Services) -> Stage:
    def allow_models(exchange: Exchange, following: Handler) -> Response:
        model = exchange.model
        if model.name and not options.match(model.name):
            raise _not_allowed(model.name)
        for other in model.others:
            if not options.match(other):
                raise _not_allowed(other)
        return following(exchange)

    return allow_models


def _not_allowed(model: str) -> GatewayError:
    message = f"The model '{model[:200]}' may not be used here."
    return GatewayError(403, "model_not_allowed", message, param="model")


POLICY = StagePolicy(schema=_SCHEMA, read=Patterns, build=_build, moment=Moment.MODEL)
