"""The body of a response that is read as a whole."""

from __future__ import annotations

from engine.upstream.client.failures import UpstreamFailure
from engine.upstream.client.response import IncomingResponse

MAX_ERROR = 65_536
"""Bytes of an error that is read; a longer body counts as empty."""


def read_body(response: IncomingResponse, limit: int, first: bytes = b"") -> tuple[bytes, bool]:
    """A body that begins with `first`, and whether it is complete. Of a body longer than `limit`
    at least that much is read."""
    pieces, size = [first], len(first)
    try:
        while size <= limit:
            data = response.read()
            if not data:
                return b"".join(pieces), True
            pieces.append(data)
            size += len(data)
    except UpstreamFailure as failure:
        failure.without_traceback()
    return b"".join(pieces), False
