"""Line and column of the values of a JSON text, found by reading only the objects and arrays on the
way to a value.

Findings name few of the values of a large document. Its nodes as YAML would take ten times its
memory, and seconds.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from engine.source.source_map import Path

_SPACE = re.compile(r"[ \t\n\r]*")
_BLOCK = 65_536
"""Characters between two places of which the line is known."""


def _nothing(members: object) -> None:
    """Replaces each object that is skipped."""


_skip = json.JSONDecoder(object_pairs_hook=_nothing).raw_decode
"""Reads the value at an index of a text, in C: returns it, without objects, and its end."""


class _Child(NamedTuple):
    """The indexes in the text at which a member's name, or an item, and its value begin."""

    name: int
    value: int


def _lines_before(text: str) -> Iterator[int]:
    """The number of line ends before each block of a text."""
    count = 0
    for start in range(0, len(text) + 1, _BLOCK):
        yield count
        count += text.count("\n", start, start + _BLOCK)


class JsonPlaces:
    """The positions of the values of a valid JSON text in which no object repeats a name."""

    __slots__ = ("_children", "_lines", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._children: dict[int, dict[str | int, _Child]] = {}
        self._lines = array("Q", _lines_before(text))  # of each block

    def find(self, path: Path, *, key: bool) -> tuple[int, int]:
        """Line and column, from 1, of the value at a path, or of its name.

        If the path does not exist, those of its nearest parent that does.
        """
        start = self._after_space(0)
        at, of_key = _Child(start, start), False
        for number, step in enumerate(path, 1):
            try:
                child = self._children_of(at.value).get(step)
            except RecursionError:  # it was parsed when less of the stack was in use
                break
            if child is None:
                break
            # As in `SourceMap`: a step that equals the last one also selects its name.
            at, of_key = child, key and (number == len(path) or step == path[-1])
        return self._line_and_column(at.name if of_key else at.value)

    def _line_and_column(self, index: int) -> tuple[int, int]:
        block = index // _BLOCK
        line = self._lines[block] + self._text.count("\n", block * _BLOCK, index)
        return line + 1, index - self._text.rfind("\n", 0, index)

    def _children_of(self, start: int) -> dict[str | int, _Child]:
        """The members or items of the value at an index; none of any other value."""
        if start not in self._children:
            opening = self._text[start : start + 1]
            children: Iterable[tuple[str | int, _Child]] = ()
            if opening in ("{", "["):
                children = self._members(start) if opening == "{" else self._items(start)
            self._children[start] = dict(children)
        return self._children[start]

    def _members(self, start: int) -> Iterator[tuple[str, _Child]]:
        at = self._after_space(start + 1)
        while self._text[at] == '"':
            name, end = _skip(self._text, at)
            value = self._after_space(self._after_space(end) + 1)
            yield name, _Child(at, value)
            at = self._next(value)

    def _items(self, start: int) -> Iterator[tuple[int, _Child]]:
        at, index = self._after_space(start + 1), 0
        while self._text[at] != "]":
            yield index, _Child(at, at)
            at, index = self._next(at), index + 1

    def _next(self, value: int) -> int:
        """The index after a value and the comma behind it, or of the closing bracket."""
        end = self._after_space(_skip(self._text, value)[1])
        return self._after_space(end + 1) if self._text[end] == "," else end

    def _after_space(self, index: int) -> int:
        match = _SPACE.match(self._text, index)
        return match.end() if match is not None else index
