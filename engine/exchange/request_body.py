"""A request's body, and how it is read. A large one is a `SpooledBody`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from engine.values.errors import GatewayError
from engine.values.json_edit import Edit, apply_edits
from engine.values.json_spans import Buffer

IN_MEMORY = 1_000_000
"""The largest body in bytes that is kept in memory; a larger one spools to disk."""


class Body:
    """The bytes of a body in memory, readable more than once.

    `buffer` is the whole body as received, for searching and parsing; `in_memory` is the same, None
    for one on disk. `only_name` is the name of a member, in quotes, that a search has found once in
    `buffer`, at the top, and that no escape spells there; b"" if none is known.
    """

    __slots__ = ("buffer", "in_memory", "only_name", "size")

    is_replayable = True
    """Whether its bytes can be read more than once."""
    is_spent = False
    """Whether its bytes are gone: it cannot be sent again."""

    buffer: Buffer
    in_memory: bytes | None

    def __init__(self, data: bytes = b"") -> None:
        self.buffer = self.in_memory = data
        self.only_name = b""
        self.size = len(data)

    def chunks(self) -> Iterator[bytes]:
        """All bytes in order, at most 64 KB at a time from a file."""
        yield bytes(self.buffer)

    def with_edits(self, *edits: Edit) -> Body:
        """A copy with edits, each the start and end of a span and the bytes that replace it.

        Edits must not overlap. Call it only on a body as received.
        """
        return Body(apply_edits(bytes(self.buffer), sorted(edits)))

    def rewrite(self, *edits: Edit) -> Body:
        """As `with_edits`, but `buffer` has the new bytes, so that it can be edited again."""
        return self.with_edits(*edits)

    def close(self) -> None:
        """Close the file of a body on disk."""


class BodyReader(Protocol):
    """Reads the body of a request, which may have `max_size` bytes."""

    max_size: int

    def receive(self, max_size: int | None = None) -> Body:
        """Read the body; `max_size` replaces that of the reader. Raises GatewayError 400, 408 or
        413, or AbortConnection."""

    def stream(self, head: int) -> BodyStream | None:
        """Read `head` bytes of a large body of a known length; None for any other body. Raises
        the same."""


class BodyStream(Protocol):
    """A body of `size` bytes that arrives: `head` are the first ones. Reading the others raises
    GatewayError 400 or 408, or AbortConnection."""

    head: bytes
    size: int

    def chunks(self) -> Iterator[bytes]:
        """The bytes behind the head, once."""

    def receive(self) -> Body:
        """The whole body, on disk."""


class ReceivedBody:
    """Reads a body again. `size` is that of the body as received, if it was changed since."""

    def __init__(self, body: Body, max_size: int, size: int | None = None) -> None:
        self._body, self._size = body, body.size if size is None else size
        self.max_size = max_size

    def receive(self, max_size: int | None = None) -> Body:
        limit = self.max_size if max_size is None else max_size
        if self._size > limit:
            raise too_large(limit)
        return self._body

    def stream(self, head: int) -> BodyStream | None:
        return None


def too_large(limit: int) -> GatewayError:
    """413: the body is larger than `limit` bytes."""
    return GatewayError(
        413, "request_too_large", f"The request body is larger than the limit of {limit} bytes."
    )


def incomplete(received: int, length: int) -> GatewayError:
    """400: the body ended too early."""
    return GatewayError(
        400,
        "incomplete_body",
        f"The request body ended after {received} bytes; Content-Length is {length}.",
    )
