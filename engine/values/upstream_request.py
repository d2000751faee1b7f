"""A request to an upstream, which transforms edit, a credential signs and the client sends; and the
result of a POST to a collector or a webhook."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from msgspec import Struct


class Spool(Protocol):
    """A request body that is not in memory. It has `size` bytes; each call of `chunks` starts at
    its first byte. One that is not replayable can be read once."""

    @property
    def size(self) -> int: ...
    @property
    def is_replayable(self) -> bool: ...
    def chunks(self) -> Iterator[bytes]: ...


class UpstreamRequest(Struct):
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


class PostResult(NamedTuple):
    """Its status, or 0 and the `error`. `retry_after` is in seconds, None if the receiver sent
    none."""

    status: int
    error: str = ""
    retry_after: float | None = None
    body: bytes = b""
