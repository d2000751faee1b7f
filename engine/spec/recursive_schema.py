"""A schema and all that it leads to, however deep, as parts that may point at themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from engine.spec.casting import (
    ANYTHING,
    MAX_NODES,
    Resolve,
    node_of,
)

Part = TypeVar("Part")


def compile_parts(
    schema: object,
    resolve: Resolve,
    make: Callable[[Mapping[str, Any]], Part],
    fill: Callable[[Part, Callable[[object], Part]], None],
) -> Part:
    """The part of `schema`. One is made for each schema that is reached, then filled with those it
    leads to, by a function that finds them.

    A part must keep the node that it is made of: an id names no other one as long as it lives.
    Recursive schemas end in themselves; what is beyond MAX_NODES takes anything.
    """
    made: dict[int, Part] = {}
    waiting: list[Part] = []

    def part_of(schema: object) -> Part:
        node = node_of(schema, resolve) if len(made) < MAX_NODES else ANYTHING
        if id(node) not in made:
            made[id(node)] = make(node)
            waiting.append(made[id(node)])
        return made[id(node)]

    top = part_of(schema)
    for part in waiting:
        fill(part, part_of)
    return top
