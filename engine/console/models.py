"""What the playground asks with a token: who it is, and what it may use."""

from __future__ import annotations

from dataclasses import asdict

import orjson

from engine.config.model import Server
from engine.console.asset import GUARDS
from engine.console.offers import formats, models
from engine.console.origin import base_of
from engine.console.snippets import programs
from engine.exchange import Exchange, Handler, Response
from engine.pipeline import compose
from engine.plan import Plan
from engine.services import Services
from engine.spec.security import BEARER
from engine.stages.authenticate import authenticate

_HEADERS = [("content-type", "application/json"), ("cache-control", "no-store"), *GUARDS]


def listing(plan: Plan, services: Services) -> Handler:
    """A handler that answers 401 for a token that is not known, else what that token may use."""
    stages = [authenticate([BEARER], False, services, any_operation=True)]
    return compose(stages, last=_list(plan, plan.config.server))


def _list(plan: Plan, server: Server) -> Handler:
    offered = formats(plan)
    known = models(plan, offered)

    def handle(exchange: Exchange) -> Response:
        caller = exchange.caller
        assert caller is not None
        mine = [one for one in offered if caller.may_call(one.operation)]
        names = {one.name for one in mine}
        usable = [
            {**model, "formats": [name for name in model["formats"] if name in names]}
            for model in known
            if "*" not in model["id"] and caller.may_use(model["id"])
        ]
        base = base_of(exchange, server)
        said = {
            "token": {"name": caller.name, "expires": caller.expires},
            "base": base,
            "currency": plan.config.currency,
            "formats": [{**asdict(one), "code": programs(one, base)} for one in mine],
            "models": usable,
        }
        return Response(200, _HEADERS, orjson.dumps(said))

    return handle
