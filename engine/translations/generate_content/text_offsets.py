"""Offsets in a text: this vendor counts bytes of UTF-8, others characters."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right

MOST = 250_000
"""Runs of characters with the same number of bytes whose places are kept, in 17 bytes each."""

_MOST_PENDING = 4_000
"""Bytes of text that are kept before its runs are told apart: most texts have no sources."""

_RUN = re.compile(
    "([\x00-\x7f]+)|([\x80-\u07ff]+)|([\u0800-\ud7ff\ue000-\uffff]+)|([\U00010000-\U0010ffff]+)"
)
"""Characters with the same number of bytes, which is the number of the group."""


class TextOffsets:
    """The offsets in a text that arrives in pieces. Of a long text itself nothing is kept but its
    end: only where characters begin that have another number of bytes than those before them."""

    _characters = _bytes = 0
    """The characters and bytes before those that are pending."""

    _width = 1
    _known: int | None = None
    """The characters up to the first run whose place is not kept."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._starts = array("Q", (0,))
        self._byte_starts = array("Q", (0,))
        self._widths = array("B", (1,))

    @property
    def length(self) -> int:
        """Characters up to now."""
        return self._characters + len(self._pending.decode())

    def add(self, text: str) -> None:
        """The next piece."""
        self._pending += text.encode()
        if len(self._pending) > _MOST_PENDING:
            self._tell_runs()

    def _tell_runs(self) -> None:
        """Note where the runs of the pending text begin."""
        if not self._pending:
            return
        text, self._pending = self._pending.decode(), bytearray()
        if text.isascii():
            self._add_run(len(text), 1)
            return
        at = 0
        for match in _RUN.finditer(text):
            end = match.end()
            self._add_run(end - at, match.lastindex or 1)
            at = end

    def _add_run(self, count: int, width: int) -> None:
        if width != self._width:
            self._begin_run(width)
        self._characters += count
        self._bytes += count * width

    def _begin_run(self, width: int) -> None:
        self._width = width
        if len(self._widths) < MOST:
            self._starts.append(self._characters)
            self._byte_starts.append(self._bytes)
            self._widths.append(width)
        elif self._known is None:
            self._known = self._characters

    def characters(self, offset: int) -> int | None:
        """The offset in characters of one in bytes; None outside the text or where it is no longer
        known."""
        self._tell_runs()
        if not 0 <= offset <= self._bytes:
            return None
        run = bisect_right(self._byte_starts, offset) - 1
        within = (offset - self._byte_starts[run]) // self._widths[run]
        return self._if_known(self._starts[run] + within)

    def bytes(self, offset: int) -> int | None:
        """The offset in bytes of one in characters; None as with `characters`."""
        self._tell_runs()
        if not 0 <= offset <= self.length or self._if_known(offset) is None:
            return None
        run = bisect_right(self._starts, offset) - 1
        return self._byte_starts[run] + (offset - self._starts[run]) * self._widths[run]

    def _if_known(self, characters: int) -> int | None:
        return None if self._known is not None and characters > self._known else characters
