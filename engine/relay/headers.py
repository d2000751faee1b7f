"""Which headers pass: to an upstream by allow-list, back to the caller by deny-list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engine.exchange import environ_key

ALWAYS_SENT = ("accept", "content-type", "content-language", "traceparent", "tracestate")
"""Request headers that pass to every upstream, whatever its dialect."""

NEVER_SENT = frozenset(
    {"authorization", "cookie", "host", "content-length", "transfer-encoding", "connection"}
    | {"proxy-authorization", "expect", "upgrade", "te", "trailer", "keep-alive", "accept-encoding"}
    | {"x-api-key", "api-key", "x-goog-api-key", "forwarded", "x-forwarded-for", "x-real-ip"}
    | {"sec-websocket-key", "sec-websocket-version", "sec-websocket-accept"}
    | {"sec-websocket-protocol", "sec-websocket-extensions"}
)
"""Request headers that no configuration can let through: they carry the caller's own token or
address, or belong to one hop (RFC 9110 section 7.6.1)."""

_HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer"}
    | {"transfer-encoding", "upgrade"}
    | {"sec-websocket-accept", "sec-websocket-protocol", "sec-websocket-extensions"}
)
_OURS = frozenset(
    {"server", "date", "content-length", "x-request-id", "request-id", "alt-svc"}
    | {f"access-control-allow-{what}" for what in ("origin", "credentials", "headers", "methods")}
    | {"access-control-expose-headers", "access-control-max-age"}
)
"""Headers that only we can know: of our server, our ids, and whose web pages may call us."""


_STOPPED = _HOP_BY_HOP | _OURS


class Forwarded:
    """The request headers that pass, compiled: `pick(environ)` gives them in a fixed order."""

    def __init__(self, names: Iterable[str], needed: Iterable[str] = ()) -> None:
        self._needed = frozenset(name.lower() for name in ("content-type", *needed))
        wanted = dict.fromkeys(name.lower() for name in (*ALWAYS_SENT, *names, *needed))
        self._pairs = [(name, environ_key(name)) for name in wanted if name not in NEVER_SENT]

    def pick(self, environ: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Those that the request has, except what its Connection header names as its hop's own;
        a caller cannot take the `needed` ones out that way."""
        said = environ.get
        picked = [(name, value) for name, key in self._pairs if (value := said(key))]
        hop = environ.get("HTTP_CONNECTION", "").lower()
        if hop in ("", "keep-alive", "close"):
            return picked
        named = {name.strip() for name in hop.split(",")} - self._needed
        return [pair for pair in picked if pair[0] not in named]


def returned(headers: Iterable[tuple[str, str]], hidden: frozenset[str]) -> list[tuple[str, str]]:
    """The upstream's response headers that our caller gets: none of one hop, of ours, or `hidden`.

    The upstream's own request id comes back as `x-upstream-request-id`.
    """
    kept = []
    named: set[str] = set()
    for name, value in headers:
        if name not in _STOPPED:
            if name not in hidden:
                kept.append((name, value))
        elif name == "connection":
            named.update(token.strip().lower() for token in value.split(","))
        elif name in ("x-request-id", "request-id"):
            kept.append(("x-upstream-request-id", value))
    return [pair for pair in kept if pair[0] not in named] if named - _HOP_BY_HOP else kept
