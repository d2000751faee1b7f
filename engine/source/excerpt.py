"""The lines of a file around a place, cut to a width, with marks under the word that is meant.

Widths are counted in cells of a terminal: a wide character takes two, a combining one none.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_WIDEST = 120
_BEFORE = 60
_WORD = re.compile(
    r"""
    "(?:[^"\\]|\\.)*" | '(?:[^']|'')*'      # in quotes
    | [^\s,:\[\]{}]+ (?: :[^\s,:\[\]{}]+ )*   # plain; a colon belongs to it unless a space follows
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Numbered lines; `marks` go under the one numbered `line`: blanks, then `^~~~`."""

    lines: tuple[tuple[int, str], ...]
    line: int
    marks: str


def excerpt(text: str, line: int, column: int, context: int = 0) -> Excerpt | None:
    """The line (from 1) with up to `context` lines around it; None when there is no such line.

    A long line is cut around the column, with `…` where something is missing.
    """
    lines = text.splitlines()
    if not 0 < line <= len(lines):
        return None
    said = lines[line - 1]
    at = min(max(column - 1, 0), len(said))
    found = _WORD.match(said, at)
    end = found.end() if found else at + 1
    first, last = _window(said, at)
    cut = ("…" if first else "") + said[first:last] + ("…" if last < len(said) else "")
    blanks = (" " if first else "") + "".join(map(_blank, said[first:at]))
    under = max(1, sum(map(_cells, said[at : min(end, last)])))
    around = range(max(line - context, 1), min(line + context, len(lines)) + 1)
    shown = [
        (number, cut if number == line else _start(lines[number - 1]))
        for number in around
        if number == line or (not first and lines[number - 1].strip())
    ]
    return Excerpt(
        tuple((number, printable(one)) for number, one in shown),
        line,
        blanks + "^" + "~" * (under - 1),
    )


def _window(said: str, at: int) -> tuple[int, int]:
    """From which character to which a line is shown."""
    first = 0
    if sum(map(_cells, said)) > _WIDEST:
        first = _back(said, at, _BEFORE)
    last, width = first, 0
    while last < len(said) and width + _cells(said[last]) <= _WIDEST:
        width += _cells(said[last])
        last += 1
    return first, last


def _back(said: str, at: int, cells: int) -> int:
    """The character that is so many cells before `at`, or the first."""
    while at > 0 and (cells := cells - _cells(said[at - 1])) >= 0:
        at -= 1
    return at


def _start(said: str) -> str:
    _, last = _window(said, 0)
    return said[:last] + ("…" if last < len(said) else "")


def _cells(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _blank(char: str) -> str:
    return "\t" if char == "\t" else " " * _cells(char)


def printable(text: str) -> str:
    """The text as one line that steers no terminal: a picture stands for each control character."""
    return text if text.isprintable() else "".join(map(_harmless, text))


def _harmless(char: str) -> str:
    """A control character could steer the terminal: its picture stands for it."""
    if char == "\t" or unicodedata.category(char) != "Cc":
        return char
    return chr(0x2400 + ord(char)) if ord(char) < 0x20 else "\N{REPLACEMENT CHARACTER}"
