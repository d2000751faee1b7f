"""The keys of JSON text under other names, in one pass; all other bytes stay unchanged."""

from __future__ import annotations

import json
import re
from typing import Protocol

from engine.values.json_edit import STRING, Buffer, Edit, JsonPath

_TOKEN = re.compile(rb"(" + STRING + rb")([ \t\r\n]*:)?|[{}\[\],]", re.DOTALL)


class Names(Protocol):
    """The names that the members of an object have."""

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

    __slots__ = ("names", "spellings", "step")

    def __init__(self, names: Names, *, is_object: bool) -> None:
        self.names = names
        self.step: str | int = "" if is_object else 0
        self.spellings: dict[str, str] = {}


def key_edits(text: Buffer, top: Names) -> list[Edit]:
    """The edits that give every key of valid JSON its documented name. Raises TwoSpellings."""
    edits: list[Edit] = []
    levels: list[_Level] = []
    for token in _TOKEN.finditer(text):
        quoted = token[1]
        if quoted is not None:
            if token[2] is None:
                continue  # a text
            level, name = levels[-1], str(json.loads(quoted))
            level.step = documented = level.names.documented(name)
            if (first := level.spellings.setdefault(documented, name)) != name:
                raise TwoSpellings(tuple(each.step for each in levels[:-1]), (name, first))
            if documented != name:
                edits.append((*token.span(1), json.dumps(documented).encode()))
            continue
        mark = token[0]
        if mark in (b"{", b"["):
            names = levels[-1].names.below(levels[-1].step) if levels else top
            levels.append(_Level(names, is_object=mark == b"{"))
        elif mark == b",":
            if isinstance(index := levels[-1].step, int):
                levels[-1].step = index + 1
        else:
            levels.pop()
    return edits
