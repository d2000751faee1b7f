"""Narrows an invalid large value to a small invalid part of it.

Listing errors takes many times longer than `is_valid`: fifty thousand invalid items would block a
worker for seconds. So long arrays are validated in slices, and errors are listed only for the first
invalid slice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

MAX_ITEMS = 100
_MAX_LISTS = 20

Path = tuple[str | int, ...]


class Narrowed(NamedTuple):
    """A part of a value: the array at `path` begins at item `offset` of the original array."""

    value: Any
    path: Path = ()
    offset: int = 0

    def original_path(self, path: list[str | int]) -> list[str | int]:
        """A path in the part as a path in the original value."""
        depth = len(self.path)
        if not self.offset or tuple(path[:depth]) != self.path or len(path) <= depth:
            return path
        step = path[depth]
        assert isinstance(step, int)
        return [*path[:depth], step + self.offset, *path[depth + 1 :]]


def narrow(is_valid: Callable[[object], bool], value: object) -> Narrowed | None:
    """An invalid part of an invalid `value`; None if only the complete value is invalid."""
    short = _shorten(value)
    if not is_valid(short):
        return Narrowed(short)
    long = False
    for path, items in islice(_long_lists(value, ()), _MAX_LISTS):
        long = True
        for offset in range(MAX_ITEMS, len(items), MAX_ITEMS):
            part = [_shorten(item) for item in items[offset : offset + MAX_ITEMS]]
            candidate = _with(short, path, part)
            if not is_valid(candidate):
                return Narrowed(candidate, path, offset)
    return None if long else Narrowed(value)


def _shorten(value: object) -> object:
    if isinstance(value, list):
        return [_shorten(item) for item in value[:MAX_ITEMS]]
    if isinstance(value, dict):
        return {key: _shorten(member) for key, member in islice(value.items(), MAX_ITEMS)}
    return value


def _long_lists(value: object, path: Path) -> Iterator[tuple[Path, list[object]]]:
    """The arrays of more than MAX_ITEMS items whose path is in the shortened value too."""
    if isinstance(value, list):
        if len(value) > MAX_ITEMS:
            yield path, value
        for index, item in enumerate(value[:MAX_ITEMS]):
            yield from _long_lists(item, (*path, index))
    elif isinstance(value, dict):
        for key, member in islice(value.items(), MAX_ITEMS):
            yield from _long_lists(member, (*path, key))


def _with(value: Any, path: Path, part: list[object]) -> object:
    """A copy of the value with `part` at `path`; it shares all values outside the path."""
    if not path:
        return part
    step = path[0]
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    copy[step] = _with(copy[step], path[1:], part)
    return copy
