"""GET /console/models.json, for the playground: a token, and the models and formats that it may
use."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache

import orjson
from cachetools import LRUCache, cached

from engine.config.server import Server
from engine.console.asset import json_response
from engine.console.chat_formats import RoutedFormat, models, routed_formats
from engine.console.code_snippets import programs
from engine.console.page_data import for_bearers
from engine.edge.origin import base_of
from engine.exchange.exchange import Exchange, Handler, Response
from engine.exchange.stage_services import Services
from engine.plan.plan import Plan
from engine.values.caller import Caller
from engine.values.trees import Json

_PRIVATE = ("entry", "operations", "tasks")
"""What the playground does not need of a model."""
_MAX_CACHE_BYTES = 16_000_000


def listing(plan: Plan, services: Services) -> Handler:
    """A handler that lists the models and formats that the token may use; 401 for an invalid
    token."""
    return for_bearers(_list(plan, plan.config.server), services)


def _list(plan: Plan, server: Server) -> Handler:
    formats = routed_formats(plan)

    @cache
    def entries() -> list[Json]:
        """The entries of all models, made at the first request: there may be thousands."""
        return [entry for entry in models(plan, formats) if "*" not in entry["id"]]

    @cached(
        LRUCache(_MAX_CACHE_BYTES, len),
        key=lambda caller: (caller.model_lists, caller.operation_lists),
    )
    def usable(caller: Caller) -> bytes:
        callable_formats = [routed for routed in formats if caller.may_call(routed.operation)]
        return orjson.dumps(_usable(entries(), callable_formats, caller))

    def handle(exchange: Exchange) -> Response:
        caller = exchange.caller
        assert caller is not None
        callable_formats = [routed for routed in formats if caller.may_call(routed.operation)]
        base = base_of(exchange, server)
        document = {
            "token": {"name": caller.name, "expires": caller.expires},
            "base": base,
            "currency": plan.config.currency,
            "formats": [_format(routed, base) for routed in callable_formats],
            "models": orjson.Fragment(usable(caller)),
        }
        return json_response(orjson.dumps(document))

    return handle


def _format(routed: RoutedFormat, base: str) -> Json:
    """The data of the page for calling a format, and for programs that call it."""
    return {
        "name": routed.name,
        "title": routed.title,
        "module": routed.format.module,
        "path": routed.path,
        "stream": routed.stream_path,
        "stream_query": routed.format.stream_query,
        "code": programs(routed, base),
    }


def _usable(entries: Sequence[Json], formats: Sequence[RoutedFormat], caller: Caller) -> list[Json]:
    """The models that the caller may use, with the formats that it may call; those without a
    translation come first."""
    names = {routed.name for routed in formats}
    return [_usable_model(entry, names) for entry in entries if caller.may_use(entry["id"])]


def _usable_model(entry: Json, names: Collection[str]) -> Json:
    callable_formats = [name for name in entry["formats"] if name in names]
    translated = [name for name in entry["translated"] if name in names]
    native = [name for name in callable_formats if name not in translated]
    return {
        **{key: value for key, value in entry.items() if key not in _PRIVATE},
        "formats": [*native, *translated],
        "translated": translated,
    }
