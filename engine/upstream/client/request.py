"""A request to an upstream, and its split into pieces for sending."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from engine.upstream.client.connection import PIECE


class Spool(Protocol):
    """A request body that can be sent again: each call of `chunks` starts at its first byte. It has
    `size` bytes."""

    @property
    def size(self) -> int: ...
    def chunks(self) -> Iterator[bytes]: ...


@dataclass(slots=True)
class UpstreamRequest:
    """A request as an upstream gets it; the client adds Host (`host`) and Content-Length.

    `path` and `query` are percent-encoded, `query` without its question mark. Names in `headers`
    are in lower case. `body` is None for a request without one.
    """

    method: str
    host: str
    path: str
    query: str
    headers: list[tuple[str, str]]
    body: bytes | Spool | None

    @property
    def target(self) -> str:
        """The request target in origin form (RFC 9112 3.2.1)."""
        return f"{self.path}?{self.query}" if self.query else self.path


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
