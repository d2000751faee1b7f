"""The gateway's origin as a caller sees it, and which web pages may use the gateway.

Behind a trusted proxy the origin comes from `X-Forwarded-Proto` and `X-Forwarded-Host`.

Protection against CSRF and DNS rebinding: a page of any origin can make a browser send a form or
open a WebSocket to the gateway, and the browser adds cookies and HTTP Basic. Browsers name the
origin of such a request in `Sec-Fetch-Site` (Fetch Metadata) or `Origin` (RFC 6454), which pages
cannot change. A request with neither is not from a browser, or is a same-origin request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

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


_SAME_ORIGIN_SITES = frozenset({"same-origin", "none"})
"""Values of Sec-Fetch-Site for pages of this gateway, and for an address that a person typed."""

_PORTS = {"http": "80", "https": "443"}


class SameOrigin:
    """The origins whose pages may use a browser's credential: this gateway, `base_url`, and
    `origins` without "*", which would mean every site.

    A host forwarded by one of `proxies` counts as this gateway's.
    """

    def __init__(
        self, origins: Sequence[str] = (), base_url: str = "", proxies: Sequence[Network] = ()
    ) -> None:
        parts = urlsplit(base_url)
        gateway_origins = [f"{parts.scheme}://{parts.netloc}".lower()] if base_url else []
        self._origins = frozenset([*origins, *gateway_origins]) - {"*"}
        self._proxies = tuple(proxies)

    def allows(self, environ: Mapping[str, Any]) -> bool:
        """Whether a browser may have attached its credential to this request."""
        site, origin = environ.get("HTTP_SEC_FETCH_SITE"), environ.get("HTTP_ORIGIN")
        if site in _SAME_ORIGIN_SITES or (site is None and origin is None):
            return True
        return origin is not None and (origin in self._origins or self._is_host(origin, environ))

    def _is_host(self, origin: str, environ: Mapping[str, Any]) -> bool:
        """Whether the request was sent to the host and port of an origin. Schemes are not compared,
        because TLS may end at a proxy."""
        scheme, _, host = origin.lower().partition("://")
        port = _PORTS.get(scheme, "")
        hosts = (str(environ.get("HTTP_HOST", "")), forwarded("HOST", environ, self._proxies))
        return bool(port and host) and _with_port(host, port) in {
            _with_port(target.strip().lower(), port) for target in hosts
        }


class PageOrigins:
    """The origins whose pages may call an endpoint that programs on this machine use too: those of
    `origins`, "*" for any, and this gateway's own.

    An attacker can let a name of theirs resolve to this machine (DNS rebinding): then their page's
    origin is the host that it asks for. So that counts as this gateway's only if it is the host of
    `base_url`, an IP address or `localhost`, which no one can let resolve to something else.
    """

    def __init__(self, origins: Sequence[str] = (), base_url: str = "") -> None:
        self._any = "*" in origins
        self._origins = frozenset(origins)
        self._gateway = urlsplit(base_url).netloc.lower()

    def allow(self, environ: Mapping[str, Any]) -> bool:
        """Whether a request is of no page, or of one of these."""
        origin = environ.get("HTTP_ORIGIN")
        if origin is None or self._any or origin in self._origins:
            return True
        scheme, _, host = origin.lower().partition("://")
        port = _PORTS.get(scheme, "")
        if not (port and host):
            return False
        if host == self._gateway:
            return True
        is_host = _with_port(host, port) == _with_port(
            str(environ.get("HTTP_HOST", "")).lower(), port
        )
        return is_host and _is_fixed(host)


def _is_fixed(host: str) -> bool:
    """Whether a host is an IP address or `localhost`."""
    if not HOST.fullmatch(host):
        return False
    name = host[1 : host.index("]")] if host.startswith("[") else host.partition(":")[0]
    if name == "localhost":
        return True
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _with_port(host: str, port: str) -> str:
    """`host:port`; adds `port` if the host has none."""
    return host if host.rpartition("]")[2].rpartition(":")[1] else f"{host}:{port}"
