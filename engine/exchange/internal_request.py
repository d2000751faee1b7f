"""A request that this process makes itself, and its WSGI environ."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote_to_bytes

from msgspec import Struct

from engine.exchange.environ_headers import environ_key

Pairs = Sequence[tuple[str, str]]
"""Header fields in order."""

HERE = "127.0.0.1"


class Request(Struct, frozen=True):
    """A request as a caller would send it. `target` is the path with its query, as on the wire;
    `address` is the caller's IP address."""

    method: str
    target: str
    headers: Pairs = ()
    body: bytes = b""
    address: str = HERE


_ENVIRON: dict[str, Any] = {
    "SCRIPT_NAME": "",
    "SERVER_NAME": "localhost",
    "SERVER_PORT": "80",
    "SERVER_PROTOCOL": "HTTP/1.1",
    "HTTP_HOST": "localhost",
    "wsgi.version": (1, 0),
    "wsgi.url_scheme": "http",
    "wsgi.errors": sys.stderr,
    "wsgi.multithread": False,
    "wsgi.multiprocess": True,
    "wsgi.run_once": False,
}
"""What is the same for all requests."""
_TARGET = re.compile(r"/[!-~]*+")
"""Visible ASCII, which begins with a slash."""
_MAX_LINE, _MAX_HEADER = 8_190, 16_380
"""Bytes of a request line and of a header, as of a request from outside."""


def environ_of(request: Request) -> dict[str, Any]:
    """The WSGI environ of a request, without its body. Raises ValueError."""
    method, target, size = request.method.upper(), request.target, len(request.body)
    path, _, query = target.partition("?")
    return environ_of_head(method, target, path, query, request.headers, size, request.address)


def environ_of_head(
    method: str, target: str, path: str, query: str, headers: Pairs, size: int, address: str
) -> dict[str, Any]:
    """The WSGI environ of a request of this method in upper case. `path` and `query` are the parts
    of its `target`, `size` that of its body. Raises ValueError."""
    if _TARGET.fullmatch(target) is None:
        if not path.startswith("/"):
            raise ValueError(f"the path '{path}' does not begin with '/'")
        raise ValueError("the path contains a character that must be percent-encoded")
    if len(method) + len(target) > _MAX_LINE:
        raise ValueError(f"path and query have {len(target):,} bytes, more than {_MAX_LINE:,}")
    environ = {
        **_ENVIRON,
        "REQUEST_METHOD": method,
        "RAW_URI": target,
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1") if "%" in path else path,
        "QUERY_STRING": query,
        "REMOTE_ADDR": address,
    }
    fields: dict[str, str] = {}
    for name, value in headers:
        if not name or not value.isprintable():
            raise ValueError(f"header '{name}' cannot be sent")
        if len(value) > _MAX_HEADER:
            raise ValueError(f"header '{name}' has more than {_MAX_HEADER:,} bytes")
        key = environ_key(name)
        fields[key] = f"{fields[key]},{value}" if key in fields else value
    environ |= fields
    if size:
        environ.setdefault("CONTENT_LENGTH", str(size))
    return environ
