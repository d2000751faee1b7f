"""GET /console/tools.json, for the page of tools: a token, and the MCP servers of the gateway. What
they list, the page asks them itself."""

from __future__ import annotations

import orjson

from engine.console.asset import GUARDS
from engine.exchange.exchange import Exchange, Handler, Response, compose
from engine.exchange.services import Services
from engine.plan.route import Plan
from engine.spec.security import BEARER
from engine.stages.authenticate import authenticate

_HEADERS = [("content-type", "application/json"), ("cache-control", "no-store"), *GUARDS]


def servers(plan: Plan, services: Services) -> Handler:
    """A handler that lists the MCP servers; 401 for an invalid token."""
    entries = [{"name": each.name, "path": each.path} for each in plan.config.mcp.values()]

    def handle(exchange: Exchange) -> Response:
        caller = exchange.caller
        assert caller is not None
        token = {"name": caller.name, "expires": caller.expires}
        return Response(200, [*_HEADERS], orjson.dumps({"token": token, "servers": entries}))

    return compose(
        [authenticate(*([BEARER], False, services), any_operation=True, sign_in=services.sign_in)],
        last=handle,
    )
