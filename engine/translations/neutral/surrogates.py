"""Halves of surrogate pairs in JSON texts.

A server that counts UTF-16 cuts a character outside of the basic plane into two deltas. Each has
half of its pair, which is no character, and no reader of JSON accepts it.
"""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    rb"\\(?:(?P<first>u[dD][89abAB][0-9a-fA-F]{2})(?P<pair>\\u[dD][c-fC-F][0-9a-fA-F]{2})?"
    rb"|(?P<second>u[dD][c-fC-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_UNKNOWN = rb"\ufffd"


class Surrogates:
    """Joins the halves of one stream: the first half of a pair waits for the second."""

    _first = b""

    def joined(self, text: bytes) -> bytes:
        """The text with whole pairs. A half without its other is U+FFFD; a first one at the end of
        a string is left out, and stands before a second one of the next text."""
        first, self._first = self._first, b""

        def whole(match: re.Match[bytes]) -> bytes:
            if match["second"]:
                return first + match[0] if first else _UNKNOWN
            if not match["first"] or match["pair"]:
                return match[0]
            if text[match.end() : match.end() + 1] != b'"':
                return _UNKNOWN
            self._first = match[0]
            return b""

        return _ESCAPE.sub(whole, text)
