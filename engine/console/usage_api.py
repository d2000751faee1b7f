"""GET /console/usage.json, for the page of usage: who asks, where its usage is, and what its agents
need. The sums and limits, the page asks as every caller does."""

from __future__ import annotations

import orjson

from engine.console.agent_settings import settings_of
from engine.console.asset import GUARDS
from engine.console.chat_formats import example_model, models, routed_formats
from engine.console.navigation import usage_path
from engine.edge.gateway_origin import base_of
from engine.exchange.exchange import Exchange, Handler, Response, compose
from engine.exchange.services import Services
from engine.plan.route import Plan
from engine.spec.security import BEARER
from engine.stages.authenticate import authenticate
from engine.values.caller import Caller
from engine.values.trees import Json

_HEADERS = [("content-type", "application/json"), ("cache-control", "no-store"), *GUARDS]


def access(plan: Plan, services: Services) -> Handler:
    """A handler that says who asks, and where its usage is; 401 for an invalid token."""
    requests = usage_path(plan, "usage_requests") if services.usage_sums is not None else None
    paths = {"usage": usage_path(plan, "usage"), "requests": requests}

    def handle(exchange: Exchange) -> Response:
        caller = exchange.caller
        assert caller is not None
        token = {"name": caller.name, "team": caller.team or None, "expires": caller.expires}
        agents = _agents(plan, caller, base_of(exchange, plan.config.server))
        document = {"token": token, **paths, "agents": agents}
        return Response(200, [*_HEADERS], orjson.dumps(document))

    return compose(
        [authenticate(*([BEARER], False, services), any_operation=True, sign_in=services.sign_in)],
        last=handle,
    )


def _agents(plan: Plan, caller: Caller, base: str) -> list[Json]:
    """The settings of agents and SDKs for the formats and models that the caller may use."""
    formats = [each for each in routed_formats(plan) if caller.may_call(each.operation)]
    entries = [each for each in models(plan, formats) if caller.may_use(each["id"])]
    usable = {
        each.name: model for each in formats if (model := example_model(each.name, entries, ""))
    }
    formats = [each for each in formats if each.name in usable]
    return [
        {"title": settings.title, "text": settings.text, "notes": settings.notes}
        for settings in settings_of(formats, base, usable)
    ]
