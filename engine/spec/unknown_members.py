"""Members of a JSON body that its document does not name.

A name is known when any branch of the schema has it. Where a schema says what further
members are (`additionalProperties` with a schema or true, `patternProperties`), or names none at
all, every member is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from engine.spec.schema_types import (
    Resolve,
    branches,
    compile_parts,
    extra_of,
    items_of,
    properties_of,
)

Path = tuple[str | int, ...]


class Names:
    """The members that one schema names; a class, because recursive schemas point at themselves."""

    __slots__ = ("extra", "fields", "items", "node", "open")
    fields: dict[str, Names]
    extra: Names
    items: Names
    open: bool

    def __init__(self, node: Mapping[str, Any]) -> None:
        self.node = node

    def unknown(self, value: Any, path: Path = ()) -> Iterator[Path]:
        """The paths of the unknown members of a value, not those below one of them."""
        if isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, dict | list):
                    yield from self.items.unknown(item, (*path, index))
        elif isinstance(value, dict):
            for name, below in value.items():
                names = self.fields.get(name)
                if names is None and not self.open:
                    yield (*path, name)
                elif isinstance(below, dict | list):
                    yield from (names or self.extra).unknown(below, (*path, name))


def compile_names(schema: object, resolve: Resolve) -> Names:
    """The names of a schema and all schemas below it, which may be recursive."""

    def fill(names: Names, names_of: Callable[[object], Names]) -> None:
        properties = properties_of(names.node, resolve)
        names.fields = {name: names_of(sub) for name, sub in properties.items()}
        names.extra = names_of(extra_of(names.node, resolve))
        names.items = names_of(items_of(names.node, resolve))
        names.open = not properties or any(map(_is_open, branches(names.node, resolve)))

    return compile_parts(schema, resolve, Names, fill)


def _is_open(node: Mapping[str, Any]) -> bool:
    extra = node.get("additionalProperties")
    return extra is True or isinstance(extra, Mapping) or bool(node.get("patternProperties"))
