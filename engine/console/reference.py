"""The reference: /openapi.json, and Swagger UI to read and try it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import orjson
import swagger_ui_bundle

from engine.console.asset import Asset, fixed, read, respond
from engine.console.merge import merged
from engine.console.origin import base_of
from engine.exchange import Exchange, Handler, Response
from engine.plan import Plan

_PARTS = ("swagger-ui.css", "swagger-ui-bundle.js")
_ADDRESSES = 8


def reference(plan: Plan, page: Asset) -> list[tuple[str, Handler]]:
    """Paths with their handlers: the page, its two files of Swagger UI, the document."""
    vendor = Path(swagger_ui_bundle.swagger_ui_path)
    parts = [(f"/console/page/{name}", fixed(read(vendor / name))) for name in _PARTS]
    return [("/docs", fixed(page)), ("/openapi.json", _document(plan)), *parts]


def _document(plan: Plan) -> Handler:
    """A handler for the document, made at its first request for each of a few addresses."""

    @lru_cache(maxsize=_ADDRESSES)
    def made(base: str) -> Asset:
        return Asset(orjson.dumps(merged(plan, base)), "application/json")

    def handle(exchange: Exchange) -> Response:
        return respond(made(base_of(exchange, plan.config.server)), exchange)

    return handle
