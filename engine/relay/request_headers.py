"""The request headers that are forwarded to an upstream: those of an allow-list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Any

from engine.exchange.environ_headers import environ_key

ALWAYS_SENT = ("accept", "content-type", "content-language", "traceparent", "tracestate")
"""Request headers that pass to every upstream, of any dialect."""

NEVER_SENT = frozenset(
    {"authorization", "cookie", "host", "content-length", "transfer-encoding", "connection"}
    | {"proxy-authorization", "expect", "upgrade", "te", "trailer", "keep-alive", "accept-encoding"}
    | {"x-api-key", "api-key", "x-goog-api-key", "forwarded", "x-forwarded-for", "x-real-ip"}
    | {"sec-websocket-key", "sec-websocket-version", "sec-websocket-accept"}
    | {"sec-websocket-protocol", "sec-websocket-extensions"}
    | {"x_api_key", "x_goog_api_key", "proxy_authorization", "x_forwarded_for", "x_real_ip"}
)
"""Request headers that no configuration can forward: they carry the caller's token or address, or
belong to one hop (RFC 9110 section 7.6.1). Servers behind WSGI and CGI read an underscore as a
dash; `api_key` is a header of its own in many documents."""

_CACHED = 1000
_VALUE = itemgetter(1)


class RequestHeaders:
    """The allow-list of one target, compiled. A header of `required` is forwarded even if the
    request's Connection header names it."""

    __slots__ = ("_keys", "_names", "_required")

    def __init__(self, names: Iterable[str], required: Iterable[str] = ()) -> None:
        self._required = frozenset(name.lower() for name in ("content-type", *required))
        names_in_lower_case = dict.fromkeys(
            name.lower() for name in (*ALWAYS_SENT, *names, *required)
        )
        self._names = [name for name in names_in_lower_case if name not in NEVER_SENT]
        self._keys = [environ_key(name) for name in self._names]

    def pick(self, environ: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The headers of a request to forward, in a fixed order, without those that its Connection
        header names (RFC 9110 section 7.6.1)."""
        values: Iterable[Any] = map(environ.get, self._keys)
        picked = list(filter(_VALUE, zip(self._names, values, strict=True)))
        connection = environ.get("HTTP_CONNECTION", "").lower()
        if connection in ("", "keep-alive", "close"):
            return picked
        hop_by_hop = {name.strip() for name in connection.split(",")} - self._required
        return [pair for pair in picked if pair[0] not in hop_by_hop]


request_headers = lru_cache(maxsize=_CACHED)(RequestHeaders)
"""The same rules for the same arguments: thousands of upstreams share them, also in the caches of
the processor."""
