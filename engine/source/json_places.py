"""Line and column of the values of a JSON text, found by reading only the objects and arrays on the
way to a value.

Findings name few of the values of a large document. Its nodes as YAML would take ten times its
memory, and seconds. msgspec splits an object into the texts of its members in a tenth of the time
that `json` takes to skip them.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

import msgspec

from engine.source.source_map import Path

_SPACE = re.compile(r"[ \t\n\r]*")
_COLON = re.compile(r"[ \t\n\r]*:[ \t\n\r]*")
_COMMA = re.compile(r"[ \t\n\r]*(?:,[ \t\n\r]*)?")
_BLOCK = 65_536
"""Characters between two places of which the line is known."""


_skip = json.JSONDecoder(object_pairs_hook=len).raw_decode
"""Reads the value at an index of a text, in C: returns it, without objects, and its end."""

_Parts = TypeVar("_Parts")
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_NO_MEMBERS: dict[str, msgspec.Raw] = {}
_NO_ITEMS: list[msgspec.Raw] = []


class _Child(NamedTuple):
    """The indexes in the text at which a member's name, or an item, and its value begin, and the
    value's JSON; None for parts of what msgspec does not read, such as a list with NaN."""

    name: int
    value: int
    part: bytes | None


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    """The end of what a pattern matches at an index of a text; the index if it matches nothing."""
    match = pattern.match(text, start)
    return start if match is None else match.end()


def _split(decoder: msgspec.json.Decoder[_Parts], data: bytes | None, rest: _Parts) -> _Parts:
    """The JSON of the members of an object, or of the items of an array; `rest` for what msgspec
    does not read."""
    try:
        return rest if data is None else decoder.decode(data)
    except (msgspec.MsgspecError, RecursionError):
        return rest


def _lines_before(text: str) -> Iterator[int]:
    """The number of line ends before each block of a text."""
    count = 0
    for start in range(0, len(text) + 1, _BLOCK):
        yield count
        count += text.count("\n", start, start + _BLOCK)


class JsonPlaces:
    """The positions of the values of a valid JSON text in which no object repeats a name."""

    __slots__ = ("_children", "_data", "_is_ascii", "_lines", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._is_ascii = text.isascii()
        try:
            self._data: bytes | None = msgspec.Raw(text)
        except UnicodeEncodeError:
            self._data = None
        self._children: dict[int, dict[str | int, _Child]] = {}
        self._lines = array("Q", _lines_before(text))  # of each block

    def find(self, path: Path, *, key: bool) -> tuple[int, int]:
        """Line and column, from 1, of the value at a path, or of its name.

        If the path does not exist, those of its nearest parent that does.
        """
        start = _end(_SPACE, self._text, 0)
        at, of_key = _Child(start, start, self._data), False
        for number, step in enumerate(path, 1):
            try:
                child = self._children_of(at).get(step)
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

    def _children_of(self, parent: _Child) -> dict[str | int, _Child]:
        """The members or items of a value; none of any other value."""
        start = parent.value
        if start not in self._children:
            opening = self._text[start : start + 1]
            children: Iterable[tuple[str | int, _Child]] = ()
            if opening in ("{", "["):
                children = (self._members if opening == "{" else self._items)(parent)
            self._children[start] = dict(children)
        return self._children[start]

    def _members(self, parent: _Child) -> Iterator[tuple[str, _Child]]:
        parts = iter(_split(_OBJECT, parent.part, _NO_MEMBERS).items())
        at = _end(_SPACE, self._text, parent.value + 1)
        while self._text[at] == '"':
            name, part = next(parts, ("", None))
            end = at + len(name) + 2
            if part is None or not self._text.startswith(f'"{name}"', at):  # it has escapes
                name, end = _skip(self._text, at)
            child = _Child(at, _end(_COLON, self._text, end), part)
            yield name, child
            at = self._next(child)

    def _items(self, parent: _Child) -> Iterator[tuple[int, _Child]]:
        items = _split(_ARRAY, parent.part, _NO_ITEMS)
        parts = iter(items)
        at, index = _end(_SPACE, self._text, parent.value + 1), 0
        while self._text[at] != "]":
            child = _Child(at, at, next(parts, None))
            yield index, child
            at, index = self._next(child), index + 1

    def _next(self, child: _Child) -> int:
        """The index after a value and the comma behind it, or of the closing bracket."""
        part = child.part
        if part is None:
            end: int = _skip(self._text, child.value)[1]
        else:
            end = child.value + len(part if self._is_ascii else str(part, "utf-8"))
        return _end(_COMMA, self._text, end)
