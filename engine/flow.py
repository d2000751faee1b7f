"""A body that comes piece by piece, and what each piece goes through on its way to the caller.

Whoever sends it iterates. Between two pieces nobody need be woken: a source that is told of an
arrival by the event loop passes it on from there, as long as the caller takes it at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

Step = Callable[[bytes], bytes]
"""What is to become of a piece; b"" keeps it from the caller."""


class Blocked(Exception):
    """The caller did not take all of a piece at once: whoever sends is to be woken with b""."""


class Passage:
    """The way of a body's pieces: `steps` in their order, then out by `offer`.

    `offer` sends what it can without waiting and keeps the rest for whoever sends; whether nothing
    was left. None: there is no such way, and every piece is iterated over. Apart from its Flow, as
    a source that held what holds it would outlive its caller.
    """

    __slots__ = ("offer", "steps")

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.offer: Callable[[bytes], bool] | None = None

    def through(self, piece: bytes) -> bytes:
        """What the steps make of a piece."""
        for step in self.steps:
            piece = step(piece)
        return piece

    def send(self, piece: bytes) -> None:
        """All the way; only where there is an `offer`. Never waits. Raises Blocked."""
        assert self.offer is not None
        piece = self.through(piece)
        if piece and not self.offer(piece):
            raise Blocked


class Flow:
    """Pieces as a source gives them, each through the steps of `passage`. The source may send
    others by the same passage meanwhile; after Blocked it gives b"" to have the rest sent."""

    __slots__ = ("_pieces", "passage")

    def __init__(self, pieces: Iterable[bytes], passage: Passage) -> None:
        self._pieces = pieces
        self.passage = passage

    def __iter__(self) -> Iterator[bytes]:
        through = self.passage.through
        for piece in self._pieces:
            if not piece or (piece := through(piece)):
                yield piece
