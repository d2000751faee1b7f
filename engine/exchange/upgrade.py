"""Whether a request asks for a WebSocket (RFC 6455 4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def wants_websocket(environ: Mapping[str, Any]) -> bool:
    """Whether a request is a client's try to open a WebSocket, also where a proxy has taken
    `Upgrade` out of it."""
    return environ.get("REQUEST_METHOD") == "GET" and (
        "HTTP_SEC_WEBSOCKET_KEY" in environ or "websocket" in list_of(environ.get("HTTP_UPGRADE"))
    )


def list_of(header: str | None) -> list[str]:
    return [word.strip().lower() for word in (header or "").split(",")]
