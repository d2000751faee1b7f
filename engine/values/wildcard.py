"""Names with `*` in them. Nothing else is special: a model may be called `m[1]` or `what?`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

T = TypeVar("T")

_MOST_MET = 1000


def matches(name: str, pattern: str) -> bool:
    """Whether the name is one the pattern takes in; `*` stands for any text, also for none.

    The pieces between the stars are looked for from the left, each once: no name can make this
    go back and forth.
    """
    if "*" not in pattern:
        return name == pattern
    first, *middle, last = pattern.split("*")
    if len(name) < len(first) + len(last) or not name.startswith(first):
        return False
    if not name.endswith(last):
        return False
    at, end = len(first), len(name) - len(last)
    for piece in middle:
        found = name.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


class Patterns:
    """Names and wildcards to match against: ten thousand names cost no more than one."""

    __slots__ = ("_exact", "_wild")

    def __init__(self, patterns: Iterable[str]) -> None:
        every = tuple(patterns)
        self._exact = frozenset(pattern for pattern in every if "*" not in pattern)
        self._wild = tuple(pattern for pattern in every if "*" in pattern)

    def match(self, name: str) -> bool:
        """Whether one of them is or takes in the name."""
        return name in self._exact or any(matches(name, pattern) for pattern in self._wild)


class ByName(Generic[T]):
    """Things by name or wildcard: an exact name first, then the wildcard that says most."""

    def __init__(self, things: Mapping[str, T]) -> None:
        self._exact = {name: thing for name, thing in things.items() if "*" not in name}
        wild = [(name, thing) for name, thing in things.items() if "*" in name]
        self._wild = sorted(wild, key=lambda pair: -len(pair[0].replace("*", "")))
        self._met: dict[str, T | None] = dict(self._exact)  # and names that were asked for since

    def find(self, name: str) -> T | None:
        """What goes by this name."""
        try:
            return self._met[name]
        except KeyError:
            return self._meet(name)

    def _meet(self, name: str) -> T | None:
        if not self._wild:
            return None
        if len(self._met) >= len(self._exact) + _MOST_MET:
            self._met = dict(self._exact)
        wild = (thing for pattern, thing in self._wild if matches(name, pattern))
        found = self._met[name] = next(wild, None)
        return found

    def names(self) -> list[str]:
        """The exact names."""
        return list(self._exact)
