"""The reference: /openapi.json, and Swagger UI to read and try it."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from pathlib import Path

import orjson
import swagger_ui_bundle

from engine.console.asset import (
    Asset,
    fixed,
    read,
    respond,
)
from engine.console.base_url import base_of
from engine.console.merged_document import merged
from engine.exchange.exchange import Exchange, Handler, Response
from engine.plan.route import Plan

_PARTS = ("swagger-ui.css", "swagger-ui-bundle.js")
_ADDRESSES = 8
_HERE = "https://the-address-of-this-gateway.invalid"
"""Stands for the address until a request says it: nobody can make the work be done again."""


def reference(plan: Plan, page: Asset) -> list[tuple[str, Handler]]:
    """Paths with their handlers: the page, its two files of Swagger UI, the document."""
    vendor = Path(swagger_ui_bundle.swagger_ui_path)
    parts = [(f"/console/page/{name}", fixed(read(vendor / name))) for name in _PARTS]
    return [("/docs", fixed(page)), ("/openapi.json", _document(plan)), *parts]


def _document(plan: Plan) -> Handler:
    """A handler for the document: merged at its first request, then with each address put in."""

    @cache
    def parts() -> tuple[bytes, bytes]:
        before, _, after = _as_json(merged(plan, _HERE)).partition(_HERE.encode())
        return before, after

    @lru_cache(maxsize=_ADDRESSES)
    def made(base: str) -> Asset:
        before, after = parts()
        return Asset(before + base.encode() + after, "application/json")

    def handle(exchange: Exchange) -> Response:
        return respond(made(base_of(exchange, plan.config.server)), exchange)

    return handle


def _as_json(document: object) -> bytes:
    """Documents of vendors have bounds of more than 64 bits, which orjson refuses."""
    try:
        return orjson.dumps(document)
    except TypeError:
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
