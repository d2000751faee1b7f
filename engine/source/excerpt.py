"""Excerpt of a file around a position: lines cut to a width, with marks under the word there; and
the annotation of a line in GitHub Actions, a workflow command.

Widths count terminal cells: a wide character takes two, a combining character none.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from functools import lru_cache

from msgspec import Struct

_WIDEST = 120
_BEFORE = 60
_LINE_END = re.compile(r"\r\n?|\n")
"""As editors count lines: `splitlines` also ends them at U+2028 and others."""
_WORD = re.compile(
    r"""
    "(?:[^"\\]|\\.)*" | '(?:[^']|'')*'      # in quotes
    | [^\s,:\[\]{}]+ (?: :[^\s,:\[\]{}]+ )*   # plain; a colon belongs to it unless a space follows
    """,
    re.VERBOSE,
)
_MAX_LINE = 2_000
"""Characters of a line whose cells are counted: a whole document may stand in one."""
_REORDERING = frozenset("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Line separators, and the controls of bidirectional text."""


class Excerpt(Struct, frozen=True):
    """Numbered lines; `marks` (blanks, then `^~~~`) belong under line number `line`."""

    lines: tuple[tuple[int, str], ...]
    line: int
    marks: str


def excerpt(text: str, line: int, column: int, context: int = 0) -> Excerpt | None:
    """The line (from 1) with up to `context` lines around it; None if the line does not exist.

    A long line is cut around the column, with `…` where something is missing.
    """
    most = len(_line_starts(text)) if text else 0
    if not 0 < line <= most:
        return None
    text_line = _line(text, line)
    at = min(max(column - 1, 0), len(text_line))
    word = _WORD.match(text_line, at)
    end = word.end() if word else at + 1
    first, last = _window(text_line, at)
    cut = ("…" if first else "") + text_line[first:last] + ("…" if last < len(text_line) else "")
    blanks = (" " if first else "") + "".join(map(_blank, text_line[first:at]))
    under = max(1, sum(map(_cells, text_line[at : min(end, last)])))
    around = range(max(line - context, 1), min(line + context, most) + 1)
    numbered = [
        (number, cut if number == line else _start(_line(text, number)))
        for number in around
        if number == line or (not first and _line(text, number).strip())
    ]
    return Excerpt(
        tuple((number, printable(content)) for number, content in numbered),
        line,
        blanks + "^" + "~" * (under - 1),
    )


@lru_cache(maxsize=4)
def _line_starts(text: str) -> array[int]:
    """The index of the first character of each line: a large document may have a thousand findings,
    each with its excerpt."""
    end = len(text.removesuffix("\n"))
    return array("q", [0, *(match.end() for match in _LINE_END.finditer(text, 0, end))])


def _line(text: str, number: int) -> str:
    """A line (from 1), without its end."""
    starts = _line_starts(text)
    end = starts[number] if number < len(starts) else len(text)
    return text[starts[number - 1] : end].removesuffix("\n").removesuffix("\r")


def _window(line: str, at: int) -> tuple[int, int]:
    """The slice of a line to show: its first index, and the index after its last."""
    first = 0
    if len(line) > _MAX_LINE or sum(map(_cells, line)) > _WIDEST:
        first = _back(line, at, _BEFORE)
    last, width = first, 0
    while last < len(line) and width + _cells(line[last]) <= _WIDEST:
        width += _cells(line[last])
        last += 1
    return first, last


def _back(line: str, at: int, cells: int) -> int:
    """The index of the character that many cells before `at`, or 0."""
    while at > 0 and (cells := cells - _cells(line[at - 1])) >= 0:
        at -= 1
    return at


def _start(line: str) -> str:
    _, last = _window(line, 0)
    return line[:last] + ("…" if last < len(line) else "")


def _cells(char: str) -> int:
    if char in _REORDERING:
        return 1  # it is replaced
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _blank(char: str) -> str:
    return "\t" if char == "\t" else " " * _cells(char)


def printable(text: str) -> str:
    """The text as one line, with control characters replaced by their Unicode symbols, and without
    characters that would show other ones in another order."""
    return text if text.isprintable() else "".join(map(_harmless, text))


def _harmless(char: str) -> str:
    """A character that is safe to print: a control character could control the terminal."""
    if char in _REORDERING:
        return "\N{REPLACEMENT CHARACTER}"
    if char == "\t" or unicodedata.category(char) != "Cc":
        return char
    return chr(0x2400 + ord(char)) if ord(char) < 0x20 else "\N{REPLACEMENT CHARACTER}"


_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def annotation(command: str, title: str, message: str, *, file: str, line: int, column: int) -> str:
    """The line to print. `command` is error, warning or notice; `line` 0 means the whole file."""
    fields = {"file": file}
    if line:
        fields |= {"line": str(line), "col": str(column)}
    fields["title"] = title
    properties = ",".join(f"{key}={text.translate(_PROPERTY)}" for key, text in fields.items())
    return f"::{command} {properties}::{escape(message)}"


def escape(text: str) -> str:
    """Escape text outside the properties of a command, or outside a command."""
    return text.translate(_DATA)
