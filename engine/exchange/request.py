"""A request that this process makes itself, and its WSGI environ."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

from engine.exchange.environ_headers import environ_key

Pairs = Sequence[tuple[str, str]]
"""Header fields in order."""

HERE = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Request:
    """A request as a caller would send it. `target` is the path with its query, as on the wire;
    `address` is the caller's IP address."""

    method: str
    target: str
    headers: Pairs = ()
    body: bytes = b""
    address: str = HERE


def environ_of(request: Request) -> dict[str, Any]:
    """The WSGI environ of a request, without its body. Raises ValueError."""
    path, _, query = request.target.partition("?")
    if not path.startswith("/"):
        raise ValueError(f"the path '{path}' does not begin with '/'")
    if not request.target.isascii() or not request.target.isprintable() or " " in request.target:
        raise ValueError("the path contains a character that must be percent-encoded")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": request.method.upper(),
        "RAW_URI": request.target,
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": query,
        "SCRIPT_NAME": "",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": request.address,
        "HTTP_HOST": "localhost",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": False,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    fields: dict[str, str] = {}
    for name, value in request.headers:
        if not name or not value.isprintable() or "_" in name:
            raise ValueError(f"header '{name}' cannot be sent")
        key = environ_key(name)
        fields[key] = f"{fields[key]},{value}" if key in fields else value
    if request.body:
        fields.setdefault("CONTENT_LENGTH", str(len(request.body)))
    return {**environ, **fields}
