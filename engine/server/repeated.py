"""A request's head that comes again over its connection, as those of an SDK do.

What was read of some bytes is true of the same bytes. Nothing may differ but the digits of the
length, so what was found of the first head holds for the next: its fields, and that nothing about
it is odd.
"""

from __future__ import annotations

import re

LONGEST_LENGTH = 17
"""Digits of a length that is read without care."""

_LENGTH = re.compile(rb"\r\ncontent-length: ?([0-9]{1,%d})\r\n" % LONGEST_LENGTH, re.IGNORECASE)


class Head:
    """The bytes of a head that is one line after the other, with at most one Content-Length."""

    __slots__ = ("_after", "_before")

    def __init__(self, head: bytes) -> None:
        self._before = head
        self._after: bytes | None = None  # what stands behind the length; b"" where there is none

    def again(self, data: bytes) -> tuple[int, str] | None:
        """Where the same head ends in `data`, and its length as it says it now ("" where it says
        what it said); None for any other, and for one that has not come whole."""
        if self._after is None:
            self._split()
        if not data.startswith(self._before):
            return None
        start = len(self._before)
        if not self._after:
            return start, ""
        end = data.find(b"\r", start, start + LONGEST_LENGTH + 1)
        digits = data[start:end]
        if end < 0 or not digits.isdigit() or not data.startswith(self._after, end):
            return None
        return end + len(self._after), digits.decode()

    def _split(self) -> None:
        """Not before it is asked for: many connections carry one request."""
        head = self._before
        found = _LENGTH.search(head)
        start, end = found.span(1) if found is not None else (len(head), len(head))
        self._before, self._after = head[:start], head[end:]
