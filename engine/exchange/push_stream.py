"""A response body that arrives in pieces, and the steps that each piece takes to the caller.

The server iterates over it. While the caller reads fast enough, the source sends each piece from
the event loop when it arrives, without waking a greenlet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

Step = Callable[[bytes], bytes]
"""Returns the piece to send in place of a piece; b"" drops it."""


class Blocked(Exception):
    """The socket did not take all of a piece: yield b"" to have the server send the rest."""


class Pipeline:
    """The way of each piece: `through` all steps, then `try_send`.

    `try_send` sends what it can without waiting, keeps the rest for the server, and returns whether
    nothing was left; None if the server cannot do that, and iterates over every piece. A source
    holds the pipeline and not the PushStream, which would keep the source alive after its caller
    has left.
    """

    __slots__ = ("through", "try_send")

    def __init__(self) -> None:
        self.through: Step = _unchanged
        self.try_send: Callable[[bytes], bool] | None = None

    def add(self, step: Step) -> None:
        """Let each piece take `step` after the steps that it takes already; before any is sent."""
        earlier = self.through
        self.through = step if earlier is _unchanged else lambda piece: step(earlier(piece))

    def send(self, piece: bytes) -> None:
        """Apply all steps and send without waiting; only if `try_send` is set. Raises Blocked."""
        assert self.try_send is not None
        piece = self.through(piece)
        if piece and not self.try_send(piece):
            raise Blocked


def _unchanged(piece: bytes) -> bytes:
    return piece


class PushStream:
    """The pieces of a source after the steps of `pipeline`. Between two of them the source may send
    others through the same pipeline; after Blocked it yields b"" to have the rest sent."""

    __slots__ = ("_pieces", "pipeline")

    def __init__(self, pieces: Iterable[bytes], pipeline: Pipeline) -> None:
        self._pieces = pieces
        self.pipeline = pipeline

    def __iter__(self) -> Iterator[bytes]:
        through = self.pipeline.through
        for piece in self._pieces:
            if not piece or (piece := through(piece)):
                yield piece
