"""Members and parameters in other spellings than those that are edited: some servers take `Stop`
for `stop` or `topK` for `top_k`, and the last of the two. What is removed, renamed or set in a
request takes them away as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any

from engine.spec.expression import lenient_member, lenient_name
from engine.transforms.places import Place
from engine.values.json_spans import JsonPath

_MAX_CACHED = 100
"""The longest name whose reading is cached: callers choose the names, and may send large ones."""

_cached_reading = lru_cache(1000)(lenient_name)
_cached_member = lru_cache(1000)(lenient_member)


def _reading(name: str) -> str:
    return _cached_reading(name) if len(name) <= _MAX_CACHED else lenient_name(name)


def other_members(value: Any, place: Place) -> list[JsonPath]:
    """The paths to members of a JSON value that differ from a place only in the case of letters,
    underscores and dashes; none for a query."""
    if place.query is not None:
        return []
    nodes: list[tuple[Any, JsonPath, bool]] = [(value, (), True)]
    for step in place.steps:
        nodes = [
            (below, (*path, key), is_exact and (key == step or isinstance(key, int)))
            for node, path, is_exact in nodes
            for key, below in entries(node, step)
        ]
    return [path for _, path, is_exact in nodes if not is_exact]


def entries(node: Any, step: str) -> list[tuple[str | int, Any]]:
    """The entries of a value that a step may be taken for."""
    if isinstance(node, dict):
        reading, longest = _cached_member(step), 2 * len(step) + 2
        return [
            (key, below)
            for key, below in node.items()
            if key == step or (len(key) <= longest and _cached_member(key) == reading)
        ]
    if isinstance(node, list) and step.isdecimal() and int(step) < len(node):
        return [(int(step), node[int(step)])]
    return []


def other_names(names: Iterable[str], edited: Collection[str]) -> frozenset[str]:
    """The names of parameters or fields that lenient readers take for an edited one."""
    readings = set(map(_reading, edited))
    return frozenset(n for n in names if n not in edited and _reading(n) in readings)


def renamed_others(names: Collection[str], renames: Mapping[str, str]) -> frozenset[str]:
    """The other names of parameters or fields that are renamed, without the new names."""
    return other_names(names, renames.keys()) - frozenset(renames.values())
