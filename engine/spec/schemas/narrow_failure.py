"""Narrows an invalid large value to a small invalid part of it.

Listing errors takes many times longer than `is_valid`: fifty thousand invalid items would block a
worker for seconds. So long arrays are validated in slices, and errors are listed only for the first
invalid slice. If few items are as invalid, only they are left: a hundred wrong items in each of a
hundred arrays have ten thousand errors, each of all alternatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple, Protocol

from engine.spec.schemas.schema_validator import SchemaValidator

MAX_ITEMS = 100
FEW_ITEMS = 3
_MAX_ERRORS = 50
_OF_LOST_ITEMS = ("minItems", "contains", "minContains", "unevaluatedItems")
_OF_OTHER_ITEMS = frozenset({"then", "else", "prefixItems"})
"""Schemas that count for a value, or not, by the items before it or in it."""
_MAX_LISTS = 20

Path = tuple[str | int, ...]


class Validator(Protocol):
    """A validator of a JSON value."""

    def is_valid(self, value: object, /) -> bool: ...

    def iter_errors(self, value: object, /) -> Iterable[Any]: ...


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


def invalid_parts(validator: Validator, value: object) -> tuple[list[Narrowed], list[Any]]:
    """The invalid part of a value, last, behind the one from which it was taken, and its errors;
    none if only the complete value is invalid. Raises TooManyErrors, and ValueError and
    RecursionError for a value that is nested too deeply."""

    def errors_of(part: Narrowed) -> list[Any]:
        return list(islice(validator.iter_errors(part.value), _MAX_ERRORS))

    if isinstance(validator, SchemaValidator) and validator.is_expensive:
        whole = Narrowed(value)
        return [whole], errors_of(whole)
    part = narrow(validator.is_valid, value)
    if part is None:
        return [], []
    few = narrow(validator.is_valid, part.value, FEW_ITEMS)
    if few is not None:
        errors = errors_of(few)
        if not any(_may_be_of_cut(error) for error in errors):
            return [part, few], errors
    return [part], errors_of(part)


def _may_be_of_cut(error: Any) -> bool:
    """Whether an error may come of the items that an array has lost: the complete array may have
    as many items as the schema requires, or be the value that it requires."""
    name, instance = error.kind.name, error.instance
    is_nested = isinstance(instance, list | dict)
    if not _OF_OTHER_ITEMS.isdisjoint(error.schema_path):
        return True
    if name in ("anyOf", "oneOf"):
        branches = error.kind.as_dict()["context"]
        if is_nested and not all(branches):  # it matches one more than it should
            return True
        return any(_may_be_of_cut(each) for branch in branches for each in branch)
    if name in ("const", "enum", "not"):
        return is_nested
    if name == "uniqueItems":
        return any(isinstance(item, list | dict) for item in instance)
    return name in _OF_LOST_ITEMS and is_nested


def narrow(
    is_valid: Callable[[object], bool], value: object, most: int = MAX_ITEMS
) -> Narrowed | None:
    """An invalid part of an invalid `value`, whose arrays have at most so many items; None if only
    the complete value is invalid."""
    short = _shorten(value, most)
    if not is_valid(short):
        return Narrowed(short)
    long = False
    for path, items in islice(_long_lists(value, (), most), _MAX_LISTS):
        long = True
        for offset in range(most, len(items), most):
            part = [_shorten(item, most) for item in items[offset : offset + most]]
            candidate = _with(short, path, part)
            if not is_valid(candidate):
                return Narrowed(candidate, path, offset)
    return None if long else Narrowed(value)


def _shorten(value: object, most: int) -> object:
    if isinstance(value, list):
        return [_shorten(item, most) for item in value[:most]]
    if isinstance(value, dict):
        members = islice(value.items(), MAX_ITEMS)
        return {key: _shorten(member, most) for key, member in members}
    return value


def _long_lists(value: object, path: Path, most: int) -> Iterator[tuple[Path, list[object]]]:
    """The arrays of more than `most` items whose path is in the shortened value too."""
    if isinstance(value, list):
        if len(value) > most:
            yield path, value
        for index, item in enumerate(value[:most]):
            yield from _long_lists(item, (*path, index), most)
    elif isinstance(value, dict):
        for key, member in islice(value.items(), MAX_ITEMS):
            yield from _long_lists(member, (*path, key), most)


def _with(value: Any, path: Path, part: list[object]) -> object:
    """A copy of the value with `part` at `path`; it shares all values outside the path."""
    if not path:
        return part
    step = path[0]
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    copy[step] = _with(copy[step], path[1:], part)
    return copy
