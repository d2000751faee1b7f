"""CORS (Fetch standard): the origins that may call the API from a browser.

Callers are not authenticated by cookies, so no response allows credentials: a page needs a token.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine import dialects
from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.values.http_names import HEADER_NAME

_HEADERS = re.compile(rf"{HEADER_NAME}(?:[ \t]*,[ \t]*{HEADER_NAME})*")
_MAX_REQUEST_HEADERS = 2_000
_MAX_AGE = "7200"
_LIMITS = [
    f"x-ratelimit-{value}-{kind}"
    for value in ("limit", "remaining", "reset")
    for kind in ("requests", "tokens")
]
EXPOSED = ", ".join(
    [
        *("x-request-id", "request-id", "x-upstream-request-id"),
        *("x-modelway-target", "x-modelway-dropped", "x-modelway-estimate"),
        *("retry-after", "retry-after-ms", "x-should-retry", *_LIMITS),
        *(name for dialect in dialects.by_request() for name in dialect.exposed_headers),
    ]
)
"""The response headers that SDKs read."""


class Cors:
    """The allowed origins; "*" allows any origin, an empty list none."""

    def __init__(self, origins: Sequence[str]) -> None:
        self._any = "*" in origins
        self._origins = frozenset(origins)

    def stages(self) -> list[Stage]:
        """The stage that adds CORS headers to responses; empty if no origin is allowed."""
        return [self._add_headers] if self._origins else []

    def _add_headers(self, exchange: Exchange, following: Handler) -> Response:
        response = following(exchange)
        response.headers = [*response.headers, *self._headers(exchange)]
        return response

    def _headers(self, exchange: Exchange) -> list[tuple[str, str]]:
        allow_origin = self._allowed(exchange)
        exposed = [("access-control-expose-headers", EXPOSED)] if allow_origin else []
        return [*self._vary(), *allow_origin, *exposed]

    def is_preflight(self, exchange: Exchange) -> bool:
        """Whether a request is a browser's preflight request."""
        return (
            bool(self._origins)
            and exchange.method == "OPTIONS"
            and exchange.header("HTTP_ORIGIN") is not None
            and exchange.header("HTTP_ACCESS_CONTROL_REQUEST_METHOD") is not None
        )

    def preflight_response(self, exchange: Exchange, methods: Sequence[str]) -> Response:
        """The response to a preflight request for a path with these methods; it needs no token."""
        requested = exchange.header("HTTP_ACCESS_CONTROL_REQUEST_HEADERS") or ""
        headers = [("access-control-allow-methods", ", ".join(methods))]
        if len(requested) <= _MAX_REQUEST_HEADERS and _HEADERS.fullmatch(requested):
            headers.append(("access-control-allow-headers", requested))
        headers.append(("access-control-max-age", _MAX_AGE))
        if not self._allowed(exchange):
            headers = []
        vary = ("vary", "access-control-request-method, access-control-request-headers")
        return Response(204, [vary, *headers])

    def _allowed(self, exchange: Exchange) -> list[tuple[str, str]]:
        origin = exchange.header("HTTP_ORIGIN")
        if self._any:
            return [("access-control-allow-origin", "*")]
        if origin in self._origins:
            return [("access-control-allow-origin", origin)]
        return []

    def _vary(self) -> list[tuple[str, str]]:
        return [] if self._any else [("vary", "origin")]
