"""Wildcards: names in which `*` stands for any text. No other character is special, so that a model
may be called `m[1]` or `what?`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Generic, TypeVar

T = TypeVar("T")

_CACHED_NAMES = 1000


def matches(name: str, pattern: str) -> bool:
    """Whether the pattern matches the name; `*` stands for any text, even an empty one.

    The pieces between the stars are searched from the left, each once, without backtracking.
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
        start = name.find(piece, at, end)
        if start < 0:
            return False
        at = start + len(piece)
    return True


def star_text(name: str, pattern: str) -> str:
    """The text that the only star of a pattern stands for in a name that the pattern matches."""
    first, _, last = pattern.partition("*")
    return name[len(first) : len(name) - len(last)]


class Patterns:
    """A set of names and wildcards. Exact names are found by hash, all wildcards with a single star
    at the end in one `startswith`, those with one at the beginning in one `endswith`."""

    __slots__ = ("_exact", "_prefixes", "_suffixes", "_wild")

    def __init__(self, patterns: Iterable[str]) -> None:
        patterns = tuple(patterns)
        self._exact = frozenset(pattern for pattern in patterns if "*" not in pattern)
        wild = [pattern for pattern in patterns if "*" in pattern]
        self._prefixes = tuple(text[:-1] for text in wild if "*" not in text[:-1])
        self._suffixes = tuple(text[1:] for text in wild if "*" not in text[1:])
        self._wild = tuple(text for text in wild if "*" in text[1:] and "*" in text[:-1])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Patterns) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    @property
    def _parts(self) -> tuple[object, ...]:
        return self._exact, self._prefixes, self._suffixes, self._wild

    def match(self, name: str) -> bool:
        """Whether one of the patterns matches the name."""
        if name in self._exact:
            return True
        if name.startswith(self._prefixes) or name.endswith(self._suffixes):
            return True
        return bool(self._wild) and any(matches(name, pattern) for pattern in self._wild)


@lru_cache(_CACHED_NAMES)
def shared_patterns(patterns: tuple[str, ...]) -> Patterns:
    """The set of names and wildcards; equal ones share it, as there may be thousands of tokens."""
    return Patterns(patterns)


class ByName(Generic[T]):
    """Values by name or wildcard: an exact name first, then the wildcard with the longest text."""

    def __init__(self, values: Mapping[str, T]) -> None:
        self._exact = {name: value for name, value in values.items() if "*" not in name}
        wild = [(name, value) for name, value in values.items() if "*" in name]
        wild.sort(key=lambda pair: -len(pair[0].replace("*", "")))
        self._values = tuple(values.values())
        # Callers can send any name, so the cache is bounded.
        self._match = lru_cache(maxsize=_CACHED_NAMES)(partial(_first_match, wild))

    def find(self, name: str) -> T | None:
        """The value for a name; None if no entry matches."""
        value = self._exact.get(name)
        return self._match(name) if value is None else value

    def names(self) -> list[str]:
        """The exact names."""
        return list(self._exact)

    def values(self) -> Sequence[T]:
        """All values, those of wildcards too."""
        return self._values


def _first_match(wild: Sequence[tuple[str, T]], name: str) -> T | None:
    return next((value for pattern, value in wild if matches(name, pattern)), None)
