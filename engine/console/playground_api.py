"""GET /console/models.json, for the playground: a token and what it may use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from engine.config.server import Server
from engine.console.asset import GUARDS
from engine.console.base_url import base_of
from engine.console.chat_formats import RoutedFormat, models, routed_formats
from engine.console.code_snippets import programs
from engine.exchange.exchange import Exchange, Handler, Response, compose
from engine.exchange.services import Services
from engine.plan.route import Plan
from engine.spec.security import BEARER
from engine.stages.authenticate import authenticate
from engine.values.caller import Caller
from engine.values.lru import LRUCache

_HEADERS = [("content-type", "application/json"), ("cache-control", "no-store"), *GUARDS]
_CACHE_BYTES = 16_000_000


def listing(plan: Plan, services: Services) -> Handler:
    """A handler that returns what the token may use, or 401 for an invalid token."""
    stages = [authenticate([BEARER], False, services, any_operation=True)]
    return compose(stages, last=_list(plan, plan.config.server))


def _list(plan: Plan, server: Server) -> Handler:
    formats = routed_formats(plan)
    entries = [entry for entry in models(plan, formats) if "*" not in entry["id"]]
    cache: LRUCache[object, bytes] = LRUCache(_CACHE_BYTES, len)

    def handle(exchange: Exchange) -> Response:
        caller = exchange.caller
        assert caller is not None
        allowed = [routed for routed in formats if caller.may_call(routed.operation)]
        scope = (caller.models, caller.operations)
        usable = cache.get_or_make(scope, lambda: orjson.dumps(_usable(entries, allowed, caller)))
        base = base_of(exchange, server)
        document = {
            "token": {"name": caller.name, "expires": caller.expires},
            "base": base,
            "currency": plan.config.currency,
            "formats": [_format(routed, base) for routed in allowed],
            "models": orjson.Fragment(usable),
        }
        return Response(200, _HEADERS, orjson.dumps(document))

    return handle


def _format(routed: RoutedFormat, base: str) -> dict[str, Any]:
    """What the page needs to call a format, and to write programs that call it."""
    return {
        "name": routed.name,
        "title": routed.title,
        "module": routed.format.module,
        "path": routed.path,
        "stream": routed.stream_path,
        "stream_query": routed.format.stream_query,
        "code": programs(routed, base),
    }


def _usable(
    entries: Sequence[dict[str, Any]], formats: Sequence[RoutedFormat], caller: Caller
) -> list[dict[str, Any]]:
    """The models that the caller may use, with the formats and operations that it may call."""
    names = {routed.name for routed in formats}
    return [
        {
            **entry,
            "formats": [name for name in entry["formats"] if name in names],
            "operations": [name for name in entry["operations"] if caller.may_call(name)],
        }
        for entry in entries
        if caller.may_use(entry["id"])
    ]
