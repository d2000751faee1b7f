"""A body whose beginning is in memory, and whose rest is sent on as it arrives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from engine.exchange.request_body import Body
from engine.values.json_edit import Edit, apply_edits


class Rest:
    """The rest of a body, of `size` bytes, which `read` begins to yield once."""

    __slots__ = ("_read", "is_spent", "size")

    def __init__(self, size: int, read: Callable[[], Iterable[bytes]]) -> None:
        self._read, self.size = read, size
        self.is_spent = False

    def chunks(self) -> Iterable[bytes]:
        """The bytes. Raises ValueError the second time: an upstream has got some of them."""
        if self.is_spent:
            raise ValueError("the body of this request was sent already")
        self.is_spent = True
        return self._read()


class StreamedBody(Body):
    """The bytes of a `head` and a `rest`. The stages of a request see and edit the head; `buffer`
    has it with an `end` that completes it, such as the last line of a form whose file is empty."""

    __slots__ = ("_end", "_head", "_rest")

    is_replayable = False

    def __init__(self, head: bytes, end: bytes, rest: Rest) -> None:
        super().__init__(head + end)
        self._head, self._end, self._rest = head, end, rest
        self.in_memory = None
        self.size = len(head) + rest.size

    @property
    def is_spent(self) -> bool:  # type: ignore[override]
        return self._rest.is_spent

    def chunks(self) -> Iterator[bytes]:
        """The head, and the rest, which can be sent once. Raises ValueError the second time."""
        rest = self._rest.chunks()
        yield self._head
        yield from rest

    def with_edits(self, *edits: Edit) -> StreamedBody:
        """A copy with edits of the head."""
        if any(end > len(self._head) for _, end, _ in edits):
            raise ValueError("the rest of a streamed body cannot be edited")
        return StreamedBody(apply_edits(self._head, sorted(edits)), self._end, self._rest)

    def rewrite(self, *edits: Edit) -> StreamedBody:
        return self.with_edits(*edits)
