"""The base URL under which a caller reached the gateway."""

from __future__ import annotations

import re

from engine.config.server import Server
from engine.exchange.exchange import Exchange
from engine.values.client_address import within

_HOST = re.compile(r"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")


def base_of(exchange: Exchange, server: Server) -> str:
    """`https://host:port` without a final slash, valid to show: `server.base_url`, or that of the
    request. X-Forwarded-Proto and -Host are read from `server.trusted_proxies` only."""
    if server.base_url:
        return server.base_url
    scheme = str(exchange.environ.get("wsgi.url_scheme", "http"))
    host = exchange.header("HTTP_HOST") or ""
    if within(str(exchange.environ.get("REMOTE_ADDR", "")), server.trusted_proxies):
        scheme = _last(exchange.header("HTTP_X_FORWARDED_PROTO")) or scheme
        host = _last(exchange.header("HTTP_X_FORWARDED_HOST")) or host
    if scheme.lower() not in ("http", "https"):
        scheme = "http"
    if not _HOST.fullmatch(host):
        host = "localhost"
    return f"{scheme.lower()}://{host}"


def _last(header: str | None) -> str:
    """The value added by the nearest proxy."""
    return (header or "").rpartition(",")[2].strip()
