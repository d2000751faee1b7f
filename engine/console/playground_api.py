"""What the playground asks with a token: who it is, and what it may use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import orjson

from engine.config.model import Server
from engine.console.asset import GUARDS
from engine.console.base_url import base_of
from engine.console.chat_formats import Format, formats, models
from engine.console.code_snippets import programs
from engine.edge.visible_models import Answers
from engine.exchange.exchange import Exchange, Handler, Response, compose
from engine.exchange.services import Services
from engine.plan.route import Plan
from engine.spec.security import BEARER
from engine.stages.authenticate import authenticate
from engine.values.caller import Caller

_HEADERS = [("content-type", "application/json"), ("cache-control", "no-store"), *GUARDS]
_BYTES = 16_000_000
"""How much of the lists is kept."""


def listing(plan: Plan, services: Services) -> Handler:
    """A handler that answers 401 for a token that is not known, else what that token may use."""
    stages = [authenticate([BEARER], False, services, any_operation=True)]
    return compose(stages, last=_list(plan, plan.config.server))


def _list(plan: Plan, server: Server) -> Handler:
    offered = formats(plan)
    known = [model for model in models(plan, offered) if "*" not in model["id"]]
    lists = Answers(_BYTES)

    def handle(exchange: Exchange) -> Response:
        caller = exchange.caller
        assert caller is not None
        mine = [one for one in offered if caller.may_call(one.operation)]
        scope = (caller.models, caller.operations)
        usable = lists.get(scope, lambda: orjson.dumps(_usable(known, mine, caller)))
        base = base_of(exchange, server)
        said = {
            "token": {"name": caller.name, "expires": caller.expires},
            "base": base,
            "currency": plan.config.currency,
            "formats": [{**asdict(one), "code": programs(one, base)} for one in mine],
            "models": orjson.Fragment(usable),
        }
        return Response(200, _HEADERS, orjson.dumps(said))

    return handle


def _usable(
    known: Sequence[dict[str, Any]], mine: Sequence[Format], caller: Caller
) -> list[dict[str, Any]]:
    """The models that the caller may use, with what of them it may call."""
    names = {one.name for one in mine}
    return [
        {
            **model,
            "formats": [name for name in model["formats"] if name in names],
            "operations": [one for one in model["operations"] if caller.may_call(one)],
        }
        for model in known
        if caller.may_use(model["id"])
    ]
