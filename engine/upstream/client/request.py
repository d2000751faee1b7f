"""The bytes of a request in the pieces in which they are sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.upstream.client.connection import PIECE
from engine.values.upstream_request import Spool


def pieces(head: bytes, body: bytes | Spool | None) -> Iterable[bytes | memoryview]:
    """The bytes of a request in pieces; a small body is sent together with the head.

    Raises ValueError if the chunks of a Spool differ from its size: the upstream would read the
    difference as another request.
    """
    if body is None:
        return (head,)
    if isinstance(body, bytes) and len(body) <= PIECE:
        return (head + body,)
    return _many(head, body)


def _many(head: bytes, body: bytes | Spool) -> Iterator[bytes | memoryview]:
    if isinstance(body, bytes):
        yield head + body[:PIECE]
        view = memoryview(body)
        for start in range(PIECE, len(body), PIECE):
            yield view[start : start + PIECE]
    else:
        remaining = body.size
        for chunk in body.chunks():
            remaining -= len(chunk)
            if remaining < 0:
                break
            yield head + chunk
            head = b""
        if remaining:
            raise ValueError("the body of a request is not as long as its size")
        if head:
            yield head
