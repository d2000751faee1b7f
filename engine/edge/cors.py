"""Which web pages may call the API: the answers' headers that browsers ask for (Fetch, "CORS").

No cookie counts here, so no answer ever allows credentials: a page must hold a token of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine import dialects
from engine.exchange.exchange import Exchange, Response

_HEADERS = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:[ \t]*,[ \t]*[!#$%&'*+.^_`|~0-9A-Za-z-]+)*")
_LONGEST = 2_000
_KEPT_SECONDS = "7200"
_LIMITS = [
    f"x-ratelimit-{what}-{kind}"
    for what in ("limit", "remaining", "reset")
    for kind in ("requests", "tokens")
]
EXPOSED = ", ".join(
    [
        *("x-request-id", "request-id", "x-upstream-request-id", "x-modelway-target"),
        *("retry-after", "retry-after-ms", "x-should-retry", *_LIMITS),
        *(name for dialect in dialects.by_request() for name in dialect.exposed_headers),
    ]
)
"""The response headers that SDKs read."""


class Cors:
    """What pages of these origins may see; "*" among them is any origin, none at all nobody's."""

    def __init__(self, origins: Sequence[str]) -> None:
        self._any = "*" in origins
        self._origins = frozenset(origins)

    def headers(self, exchange: Exchange) -> list[tuple[str, str]]:
        """What an answer to this request says beside its own headers."""
        if not self._origins:
            return []
        allowed = self._allowed(exchange)
        said = [("access-control-expose-headers", EXPOSED)] if allowed else []
        return [*self._varies(), *allowed, *said]

    def asks_first(self, exchange: Exchange) -> bool:
        """Whether this is a browser's question before the request itself."""
        return (
            bool(self._origins)
            and exchange.method == "OPTIONS"
            and exchange.header("HTTP_ORIGIN") is not None
            and exchange.header("HTTP_ACCESS_CONTROL_REQUEST_METHOD") is not None
        )

    def answer(self, exchange: Exchange, methods: Sequence[str]) -> Response:
        """The answer to that question, for a path that has these methods; it needs no token."""
        asked = exchange.header("HTTP_ACCESS_CONTROL_REQUEST_HEADERS") or ""
        says = [("access-control-allow-methods", ", ".join(methods))]
        if len(asked) <= _LONGEST and _HEADERS.fullmatch(asked):
            says.append(("access-control-allow-headers", asked))
        says.append(("access-control-max-age", _KEPT_SECONDS))
        if not self._allowed(exchange):
            says = []
        varies = ("vary", "access-control-request-method, access-control-request-headers")
        return Response(204, [varies, *says])

    def _allowed(self, exchange: Exchange) -> list[tuple[str, str]]:
        origin = exchange.header("HTTP_ORIGIN")
        if self._any:
            return [("access-control-allow-origin", "*")]
        if origin in self._origins:
            return [("access-control-allow-origin", origin)]
        return []

    def _varies(self) -> list[tuple[str, str]]:
        return [] if self._any else [("vary", "origin")]


NOBODY = Cors(())
