"""Narrows an invalid large value to a small invalid part of it.

Listing errors costs many times the verdict: fifty thousand invalid items take seconds, in which a
worker serves no request. Long arrays are therefore validated in slices, and errors are listed only
for the first invalid slice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

MOST_ITEMS = 100
_MOST_LISTS = 20

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


def narrow(is_valid: Callable[[Any], bool], value: Any) -> Narrowed | None:
    """An invalid part of an invalid `value`; None if only the complete value is invalid."""
    short = _shortened(value)
    if not is_valid(short):
        return Narrowed(short)
    long = False
    for path, items in islice(_long_lists(value, ()), _MOST_LISTS):
        long = True
        for offset in range(MOST_ITEMS, len(items), MOST_ITEMS):
            part = [_shortened(item) for item in items[offset : offset + MOST_ITEMS]]
            candidate = _with(short, path, part)
            if not is_valid(candidate):
                return Narrowed(candidate, path, offset)
    return None if long else Narrowed(value)


def _shortened(value: Any) -> Any:
    if isinstance(value, list):
        return [_shortened(item) for item in value[:MOST_ITEMS]]
    if isinstance(value, dict):
        return {key: _shortened(below) for key, below in islice(value.items(), MOST_ITEMS)}
    return value


def _long_lists(value: Any, path: Path) -> Iterator[tuple[Path, list[Any]]]:
    """The arrays of more than MOST_ITEMS items that stand in the shortened value as well."""
    if isinstance(value, list):
        if len(value) > MOST_ITEMS:
            yield path, value
        for index, item in enumerate(value[:MOST_ITEMS]):
            yield from _long_lists(item, (*path, index))
    elif isinstance(value, dict):
        for key, below in islice(value.items(), MOST_ITEMS):
            yield from _long_lists(below, (*path, key))


def _with(value: Any, path: Path, part: list[Any]) -> Any:
    """The value with `part` at `path`; what is beside the path is shared."""
    if not path:
        return part
    step = path[0]
    copied: Any = list(value) if isinstance(value, list) else dict(value)
    copied[step] = _with(copied[step], path[1:], part)
    return copied
