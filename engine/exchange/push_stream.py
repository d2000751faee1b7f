"""A response body that arrives in pieces, and the steps that each piece takes to the caller.

The server iterates over it. Where the caller takes each piece at once, a source that the event loop
tells of an arrival sends the piece from there: no greenlet is woken between two pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

Step = Callable[[bytes], bytes]
"""Returns what becomes of a piece; b"" keeps it from the caller."""


class Blocked(Exception):
    """The caller did not take all of a piece at once: yield b"" to have the rest sent."""


class Pipeline:
    """The `steps` that each piece takes in order, then `try_send`.

    `try_send` sends what it can without waiting, keeps the rest for the server, and returns whether
    nothing was left. None: this server cannot, and every piece is iterated over. A source holds the
    pipeline and not the PushStream, which would keep the source alive after its caller has gone.
    """

    __slots__ = ("steps", "try_send")

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.try_send: Callable[[bytes], bool] | None = None

    def through(self, piece: bytes) -> bytes:
        """The piece after all steps."""
        for step in self.steps:
            piece = step(piece)
        return piece

    def send(self, piece: bytes) -> None:
        """Take all steps and send without waiting; only where `try_send` is set. Raises Blocked."""
        assert self.try_send is not None
        piece = self.through(piece)
        if piece and not self.try_send(piece):
            raise Blocked


class PushStream:
    """The pieces of a source, each through the steps of `pipeline`. Meanwhile the source may send
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
