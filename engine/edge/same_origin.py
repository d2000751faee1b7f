"""CSRF protection: the origins whose pages may use credentials that a browser attaches.

A page of any origin can make a browser send a form or open a WebSocket here, and the browser adds
cookies and HTTP Basic. Browsers name the origin of the request in `Sec-Fetch-Site` (Fetch Metadata)
or `Origin` (RFC 6454), which no page can change. A request with neither comes from no browser,
or from one that sends only requests of the page itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from engine.values.client_address import Network, within

_SAME_ORIGIN_SITES = frozenset({"same-origin", "none"})
"""Values of Sec-Fetch-Site: a page of this gateway, and an address that a person typed."""

_PORTS = {"http": "80", "https": "443"}


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
        return bool(port and host) and _with_port(host, port) in {
            _with_port(host_and_port.strip().lower(), port)
            for host_and_port in self._hosts(environ)
        }

    def _hosts(self, environ: Mapping[str, Any]) -> list[str]:
        hosts = [str(environ.get("HTTP_HOST", ""))]
        if within(str(environ.get("REMOTE_ADDR", "")), self._proxies):
            hosts.append(str(environ.get("HTTP_X_FORWARDED_HOST", "")).rpartition(",")[2])
        return hosts


def _with_port(host: str, port: str) -> str:
    """`host:port`, with this port where it names none."""
    return host if host.rpartition("]")[2].rpartition(":")[1] else f"{host}:{port}"
