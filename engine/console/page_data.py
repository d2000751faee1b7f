"""The data that pages of the console ask for.

    status.json   which models this worker has seen healthy: the entries of `models` and one of two
                  words, never the name of an upstream, as the home page needs no token; an entry
                  that this worker has not asked yet is missing
    tools.json    a token, and the MCP servers of the gateway; what they list, the page asks them
    usage.json    who asks, where its usage is, and what its agents need; the sums and limits, the
                  page asks as every caller does

`playground_api.py` has that of the playground.
"""

from __future__ import annotations

import orjson
from cachetools import TTLCache, cached

from engine.console.agent_settings import settings_of
from engine.console.asset import json_response
from engine.console.chat_formats import example_model, models, routed_formats
from engine.console.navigation import usage_path
from engine.edge.origin import base_of
from engine.exchange.exchange import Exchange, Handler, Response, compose
from engine.exchange.stage_services import Services
from engine.plan.plan import Plan
from engine.spec.security import BEARER
from engine.stages.authenticate import authenticate
from engine.values.caller import Caller
from engine.values.trees import Json

_SECONDS = 2.0
"""How long an answer is used again: a config may have thousands of targets."""


def for_bearers(handle: Handler, services: Services) -> Handler:
    """A handler for callers with a token or a session of a page; 401 for others."""
    identify = authenticate([BEARER], False, services, any_operation=True, sign_in=services.sign_in)
    return compose([identify], last=handle)


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
        return json_response(orjson.dumps(document))

    return for_bearers(handle, services)


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


def servers(plan: Plan, services: Services) -> Handler:
    """A handler that lists the MCP servers; 401 for an invalid token."""
    entries = [{"name": each.name, "path": each.path} for each in plan.config.mcp.values()]

    def handle(exchange: Exchange) -> Response:
        caller = exchange.caller
        assert caller is not None
        token = {"name": caller.name, "expires": caller.expires}
        return json_response(orjson.dumps({"token": token, "servers": entries}))

    return for_bearers(handle, services)


def model_status(services: Services) -> Handler:
    """A handler that says which entries of `models` are healthy or degraded."""

    @cached(TTLCache(1, _SECONDS, services.monotonic))
    def body() -> bytes:
        health = services.health
        return orjson.dumps({"models": {} if health is None else dict(health.model_states())})

    def handle(exchange: Exchange) -> Response:
        return json_response(body())

    return handle
