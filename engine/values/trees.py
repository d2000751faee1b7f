"""Trees of mappings and lists, as JSON and YAML have them: their parts, and changed copies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Json = dict[str, Any]
"""An object of parsed JSON, or a mapping of YAML. Its schema or its format says what types its
members have."""

Section = Mapping[str, Any]
"""An object or a mapping like `Json` that is only read."""

TreePath = tuple[Any, ...]
"""The names and indexes that lead to a value."""


def value_at(value: Any, path: Iterable[Any]) -> Any:
    """The value at a path, which there is. Raises KeyError, IndexError or TypeError for another."""
    for step in path:
        value = value[step]
    return value


def member_at(value: Any, names: Iterable[str]) -> Any:
    """The value at a path of names; None if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def entries_of(value: Any) -> Iterator[tuple[Any, Any]]:
    """The entries of a mapping or list, with their names or indexes; none of another value."""
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def objects_of(value: object) -> Iterator[Json]:
    """The objects in a list; none of another value."""
    return (
        (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())
    )


def is_number(value: object) -> bool:
    """Whether a value is a number: true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def leaves(value: Any, at: TreePath = ()) -> Iterator[tuple[TreePath, Any]]:
    """The values that are not a mapping or list, and empty ones, each with its path; `at` is that
    of `value`."""
    if not isinstance(value, dict | list) or not value:
        yield at, value
        return
    for step, entry in value.items() if isinstance(value, dict) else enumerate(value):
        yield from leaves(entry, (*at, step))


def map_leaves(value: Any, change: Callable[[TreePath, Any], Any], at: TreePath = ()) -> Any:
    """A copy in which each value that is not a mapping or list is replaced by `change(path,
    value)`."""
    if isinstance(value, dict):
        return {name: map_leaves(entry, change, (*at, name)) for name, entry in value.items()}
    if isinstance(value, list):
        return [map_leaves(entry, change, (*at, index)) for index, entry in enumerate(value)]
    return change(at, value)


def with_changes(
    value: dict[Any, Any] | list[Any], change: Callable[[Any, Any], Any]
) -> dict[Any, Any] | list[Any]:
    """The mapping or list with every entry replaced by `change(key or index, entry)`; `value`
    itself if `change` returns every entry itself. Parts without changes are shared, not copied."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    changes = {step: new for step, entry in entries if (new := change(step, entry)) is not entry}
    if not changes:
        return value
    if isinstance(value, dict):
        return {**value, **changes}
    return [changes.get(index, entry) for index, entry in enumerate(value)]


def merge(base: Mapping[str, object], overrides: Mapping[str, object]) -> Json:
    """Mappings merged at every level; any other value of `overrides` replaces that of `base`."""
    merged = dict(base)
    for key, value in overrides.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            merged[key] = merge(old, value)
        else:
            merged[key] = value
    return merged


def has_more_levels(value: object, most: int) -> bool:
    """Whether mappings and lists stand in each other more than `most` deep."""
    level: list[Any] = [value]
    for _ in range(most):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True
