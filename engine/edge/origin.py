"""The gateway's own origin as a caller sees it: for links, and against CSRF.

Behind a proxy it is what `X-Forwarded-Proto` and `-Host` say, if the proxy is a trusted one.

A page of any origin can make a browser send a form or open a WebSocket here, and the browser adds
cookies and HTTP Basic. Browsers name the origin of the request in `Sec-Fetch-Site` (Fetch Metadata)
or `Origin` (RFC 6454), which no page can change. A request with neither comes from no browser,
or from one that sends only requests of the page itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from engine.config.server import Server
from engine.exchange.exchange import Exchange
from engine.values.client_address import Network, within

_SAME_ORIGIN_SITES = frozenset({"same-origin", "none"})
"""Values of Sec-Fetch-Site: a page of this gateway, and an address that a person typed."""

_HOST = re.compile(r"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_PORTS = {"http": "80", "https": "443"}


def base_of(exchange: Exchange, server: Server) -> str:
    """`https://host:port` without a final slash, valid to show: `server.base_url`, or that of the
    request."""
    if server.base_url:
        return server.base_url
    environ, proxies = exchange.environ, server.trusted_proxies
    scheme = _forwarded("PROTO", environ, proxies) or str(environ.get("wsgi.url_scheme", "http"))
    host = _forwarded("HOST", environ, proxies) or str(environ.get("HTTP_HOST", ""))
    if scheme.lower() not in ("http", "https"):
        scheme = "http"
    return f"{scheme.lower()}://{host if _HOST.fullmatch(host) else 'localhost'}"


class SameOrigin:
    """The origins whose pages may use a browser's credential: this gateway's own, that of
    `base_url`, and those of `origins`. "*" among these does not count: it would name every site.

    Hosts that `proxies` forwarded count as this gateway's own.
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
        """Whether the host and port of an origin are those that the request was sent to. The scheme
        is not compared: TLS may have ended at a proxy."""
        scheme, _, host = origin.lower().partition("://")
        port = _PORTS.get(scheme, "")
        hosts = (str(environ.get("HTTP_HOST", "")), _forwarded("HOST", environ, self._proxies))
        return bool(port and host) and _with_port(host, port) in {
            _with_port(own.strip().lower(), port) for own in hosts
        }


def _forwarded(name: str, environ: Mapping[str, Any], proxies: Sequence[Network]) -> str:
    """What the nearest proxy has put into `X-Forwarded-<name>`; "" unless it is a trusted one."""
    if not within(str(environ.get("REMOTE_ADDR", "")), proxies):
        return ""
    return str(environ.get(f"HTTP_X_FORWARDED_{name}", "")).rpartition(",")[2].strip()


def _with_port(host: str, port: str) -> str:
    """`host:port`, with this port where it names none."""
    return host if host.rpartition("]")[2].rpartition(":")[1] else f"{host}:{port}"
