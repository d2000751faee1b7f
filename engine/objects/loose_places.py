"""Ids in JSON of another form than the declared one, which a lenient server reads all the same.

A member may be in other capitals, as Go's `encoding/json` and ASP.NET take it; one item may stand
in place of a list, as protobuf takes it, or a list in place of one item.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.objects.id_places import ANY, ANY_DEPTH, IdPlace, JsonName, items_of, spellings
from engine.values.json_spans import JsonPath
from engine.values.trees import entries_of


def find_loosely(
    value: Any, steps: Sequence[str], json_name: JsonName | None = None
) -> list[JsonPath]:
    """The paths of the values that a lenient server takes for those at a place, each once."""
    names = [{name.lower() for name in spellings(step, json_name)} for step in steps]
    paths: dict[JsonPath, None] = {}
    stack: list[tuple[Any, JsonPath, int]] = [(value, (), 0)]
    seen: set[tuple[JsonPath, int]] = set()
    while stack:
        node, path, at = stack.pop()
        if (path, at) in seen:
            continue
        seen.add((path, at))
        if at == len(steps):
            paths[path] = None
        elif steps[at] == ANY_DEPTH:
            stack.append((node, path, at + 1))
            stack += [(child, (*path, key), at) for key, child in entries_of(node)]
        elif steps[at] == ANY:
            stack += [(child, (*path, key), at + 1) for key, child in items_of(node, steps, at)]
            if not isinstance(node, list):
                stack.append((node, path, at + 1))
        elif isinstance(node, dict):
            stack += [
                (child, (*path, name), at + 1)
                for name, child in node.items()
                if name.lower() in names[at]
            ]
        elif isinstance(node, list):
            rest = at + steps[at].isdecimal()
            stack += [(child, (*path, index), rest) for index, child in enumerate(node)]
    return [*paths]


def hides_ids(value: object, place: IdPlace, places: Sequence[IdPlace]) -> bool:
    """Whether a value at a place, if it is no text, may have ids in another form than declared: a
    number, a list where none of ids is declared, or an object with places of no ids.

    Under `**` an object is no id: it may be the schema of an argument with such a name."""
    if isinstance(value, bool | str) or not value:
        return False
    size = len(place.steps)
    below = [each.steps[size] for each in places if each.steps[:size] == place.steps != each.steps]
    if isinstance(value, list):
        return ANY not in below
    return not (isinstance(value, dict) and (below or ANY_DEPTH in place.steps))


def member_of(path: JsonPath, steps: Sequence[str]) -> JsonPath | None:
    """The path of the member whose name is the last one of a place, for a path found there; None if
    it cannot be said, below `**`."""
    size = len(path)
    for step in reversed(steps):
        if step == ANY_DEPTH:
            return None
        if step != ANY and not step.isdecimal():
            break
        size -= 1
    return path[:size]
