"""The reference page: the merged document at /openapi.json, and the files of Swagger UI."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from pathlib import Path

import orjson
import swagger_ui_bundle

from engine.console.asset import Asset, respond
from engine.console.base_url import base_of
from engine.console.merged_document import merged
from engine.exchange.exchange import Exchange, Handler, Response
from engine.plan.route import Plan

SWAGGER_UI = Path(swagger_ui_bundle.swagger_ui_path)
"""The files of Swagger UI."""

_MAX_BASES = 8
_PLACEHOLDER = "https://the-address-of-this-gateway.invalid"
"""Stands for the base URL, so that the document is merged only once."""


def document(plan: Plan) -> Handler:
    """A handler for the merged document, which is built at its first request."""

    @cache
    def parts() -> tuple[bytes, bytes]:
        before, _, after = _as_json(merged(plan, _PLACEHOLDER)).partition(_PLACEHOLDER.encode())
        return before, after

    @lru_cache(maxsize=_MAX_BASES)
    def asset(base: str) -> Asset:
        before, after = parts()
        return Asset(before + base.encode() + after, "application/json")

    def handle(exchange: Exchange) -> Response:
        return respond(asset(base_of(exchange, plan.config.server)), exchange)

    return handle


def _as_json(document: object) -> bytes:
    """As JSON. Vendors' documents have integers above 64 bits, which orjson refuses."""
    try:
        return orjson.dumps(document)
    except TypeError:
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
