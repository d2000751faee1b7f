"""The keys of JSON text under other names, in one pass; all other bytes stay unchanged."""

from __future__ import annotations

import json
import re
from typing import Protocol

from engine.values.json_edit import Edit
from engine.values.json_spans import STRING, Buffer, JsonPath

_OPENERS = (b"{", b"[")
_TOKEN = re.compile(rb"(" + STRING + rb")([ \t\r\n]*:)?|[{}\[\],]", re.DOTALL)


class Names(Protocol):
    """The names that the members of an object have. `is_data`: it and all below have their own."""

    @property
    def is_data(self) -> bool: ...

    def documented(self, name: str) -> str:
        """The documented name of a member; its own name if it has no other."""
        ...

    def below(self, step: str | int) -> Names:
        """The names of the members of the value at a documented name, or of an item."""
        ...


class TwoSpellings(ValueError):
    """An object has a member in two spellings, of which `names` are the last and the first; `path`
    is that of the object."""

    def __init__(self, path: JsonPath, names: tuple[str, str]) -> None:
        super().__init__(f"'{names[0]}' and '{names[1]}' are two spellings of one member")
        self.path = path
        self.names = names


class _Level:
    """An object or array that is being read: its names, the key or index of the current entry, and
    of an object the spellings so far by documented name."""

    __slots__ = ("is_data", "names", "spellings", "step")

    def __init__(self, names: Names, *, is_object: bool) -> None:
        self.names = names
        self.is_data = names.is_data
        self.step: str | int = "" if is_object else 0
        self.spellings: dict[str, str] = {}


def key_edits(text: Buffer, top: Names) -> list[Edit]:
    """The edits that give every key of valid JSON its documented name. Raises TwoSpellings."""
    edits: list[Edit] = []
    levels: list[_Level] = []
    level = _Level(top, is_object=False)  # around the text
    read: dict[tuple[Names, bytes], tuple[str, str]] = {}  # most keys occur often
    for token in _TOKEN.finditer(text):
        quoted, colon = token.groups()
        if quoted is None:
            mark = token[0]
            if mark == b",":
                if isinstance(level.step, int):
                    level.step += 1
            elif mark in _OPENERS:
                names = level.names.below(level.step) if levels else top
                levels.append(level)
                level = _Level(names, is_object=mark == b"{")
            else:
                level = levels.pop()
        elif colon is not None and not level.is_data:
            key = level.names, quoted
            if key not in read:
                read[key] = _names(level.names, quoted)
            name, level.step = read[key]
            if (first := level.spellings.setdefault(level.step, name)) != name:
                raise TwoSpellings(tuple(each.step for each in levels[1:]), (name, first))
            if level.step != name:
                edits.append((*token.span(1), json.dumps(level.step).encode()))
    return edits


def _names(names: Names, quoted: bytes) -> tuple[str, str]:
    """The name of a key as it is spelt, and its documented name."""
    name = str(json.loads(quoted))
    return name, names.documented(name)
