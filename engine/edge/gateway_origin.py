"""The gateway's origin as a caller sees it, for links.

Behind a trusted proxy it comes from `X-Forwarded-Proto` and `X-Forwarded-Host`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from engine.config.server import Server
from engine.exchange.exchange import Exchange
from engine.values.client_address import Network, within

HOST = re.compile(r"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
"""A host, with or without a port."""


def base_of(exchange: Exchange, server: Server) -> str:
    """`https://host:port` without a final slash, safe to display: `server.base_url`, or the origin
    that the request was sent to."""
    if server.base_url:
        return server.base_url
    environ, proxies = exchange.environ, server.trusted_proxies
    scheme = forwarded("PROTO", environ, proxies) or str(environ.get("wsgi.url_scheme", "http"))
    host = requested_host(environ, proxies)
    if scheme.lower() not in ("http", "https"):
        scheme = "http"
    return f"{scheme.lower()}://{host if HOST.fullmatch(host) else 'localhost'}"


def requested_host(environ: Mapping[str, Any], proxies: Sequence[Network]) -> str:
    """The host and port that the caller asked for, as one of `proxies` forwards them or as they are
    sent; "" without."""
    return forwarded("HOST", environ, proxies) or str(environ.get("HTTP_HOST", ""))


def forwarded(name: str, environ: Mapping[str, Any], proxies: Sequence[Network]) -> str:
    """The value of `X-Forwarded-<name>` from the nearest proxy; "" unless it is trusted."""
    if not within(str(environ.get("REMOTE_ADDR", "")), proxies):
        return ""
    return str(environ.get(f"HTTP_X_FORWARDED_{name}", "")).rpartition(",")[2].strip()
