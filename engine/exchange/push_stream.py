"""A response body that arrives in pieces, and the pipeline through which each piece passes.

The server iterates over the body. While the caller reads fast enough, the source sends pieces
directly from the event loop, without waking a greenlet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

MAX_PIECE = 262_144
"""Bytes of a piece as the server gets it, which copies each behind its head."""

Step = Callable[[bytes], bytes]
"""Returns the piece to send instead of a piece; b"" drops it."""


class Blocked(Exception):
    """The socket did not accept a whole piece, or it is too large for that: yield it, or b"", so
    that the server sends the rest."""


class Pipeline:
    """The steps of each piece: `transform` applies all, then `try_send` sends the result.

    `try_send` sends what it can without blocking, leaves the rest to the server, and returns
    whether all was sent; None if the server cannot do that and iterates over every piece. A source
    refers to the pipeline, not to the PushStream, which would keep the source alive after the
    caller has disconnected.
    """

    __slots__ = ("transform", "try_send")

    def __init__(self) -> None:
        self.transform: Step = _identity
        self.try_send: Callable[[bytes], bool] | None = None

    def add(self, step: Step) -> None:
        """Append a step. Call it before any piece is sent."""
        earlier = self.transform
        self.transform = step if earlier is _identity else lambda piece: step(earlier(piece))


def _identity(piece: bytes) -> bytes:
    return piece


class PushStream:
    """The pieces of a source, after the steps of `pipeline`. Between two pieces the source may send
    others through the pipeline itself; after Blocked it yields what it could not send, or b"", so
    that the server sends the rest."""

    __slots__ = ("_pieces", "pipeline")

    def __init__(self, pieces: Iterable[bytes], pipeline: Pipeline) -> None:
        self._pieces = pieces
        self.pipeline = pipeline

    def __iter__(self) -> Iterator[bytes]:
        transform = self.pipeline.transform
        for piece in self._pieces:
            if not piece or (piece := transform(piece)):
                if len(piece) <= MAX_PIECE:
                    yield piece
                else:
                    for at in range(0, len(piece), MAX_PIECE):
                        yield piece[at : at + MAX_PIECE]
