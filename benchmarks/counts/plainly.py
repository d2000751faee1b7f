"""A stand-in for gunicorn's parser in C, which uses an instruction that valgrind does not know
(pcmpestri of SSE 4.2). What it reads is remembered, so hardly any of it is counted.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import gunicorn_h1c


def read_plainly() -> None:
    """Let gunicorn read requests without that instruction."""
    gunicorn_h1c.parse_request = _parse


def _parse(data: bytes, **limits: Any) -> dict[str, Any]:
    end = data.find(b"\r\n\r\n")
    if end < 0:
        raise gunicorn_h1c.IncompleteError("more is to come")
    return _read(data[:end])


@lru_cache(maxsize=64)
def _read(head: bytes) -> dict[str, Any]:
    line, *lines = head.split(b"\r\n")
    method, path, version = line.split(b" ")
    return {
        "method": method,
        "path": path,
        "minor_version": int(version[-1:]),
        "headers": [tuple(header.split(b": ", 1)) for header in lines],
        "consumed": len(head) + 4,
    }
