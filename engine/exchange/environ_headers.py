"""Reading a WSGI environ (PEP 3333): names of headers, lists in headers, WebSocket requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def environ_key(header: str) -> str:
    """The WSGI name of a header: `x-api-key` -> `HTTP_X_API_KEY`."""
    name = header.upper().replace("-", "_")
    return name if name in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{name}"


def comma_separated(header: str | None) -> list[str]:
    """The elements of a list-valued header in lower case (RFC 9110 5.6.1)."""
    return [element.strip().lower() for element in (header or "").split(",")]


def wants_websocket(environ: Mapping[str, Any]) -> bool:
    """Whether a request is a WebSocket handshake (RFC 6455 4.1), even if a proxy has removed
    `Upgrade`."""
    return environ.get("REQUEST_METHOD") == "GET" and (
        "HTTP_SEC_WEBSOCKET_KEY" in environ
        or "websocket" in comma_separated(environ.get("HTTP_UPGRADE"))
    )
