"""Members of a JSON body that its document does not name.

A name is known if any branch of the schema has it. Every name is known if the schema describes
further members (`additionalProperties` with a schema or true, `patternProperties`) or names none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from engine.spec.document.schema_types import (
    Resolve,
    branches,
    compile_parts,
    extra_of,
    items_of,
    properties_of,
)

Path = tuple[str | int, ...]


class MemberNames:
    """The members that a schema names; an object, so that recursive schemas can refer to
    themselves."""

    __slots__ = ("extra", "fields", "items", "open")
    fields: dict[str, MemberNames]
    extra: MemberNames
    items: MemberNames
    open: bool

    def unknown(self, value: object, path: Path = ()) -> Iterator[Path]:
        """The paths of the unknown members of a value, without those inside an unknown member."""
        stack: list[tuple[MemberNames, object, Path]] = [(self, value, path)]
        while stack:  # a body may be nested deeper than Python can recurse
            names, value, path = stack.pop()
            below: list[tuple[MemberNames, object, Path]] = []
            if isinstance(value, list):
                for index, item in enumerate(value):
                    if isinstance(item, dict | list):
                        below.append((names.items, item, (*path, index)))
            elif isinstance(value, dict):
                for name, member in value.items():
                    member_names = names.fields.get(name)
                    if member_names is None and not names.open:
                        yield (*path, name)
                    elif isinstance(member, dict | list):
                        below.append((member_names or names.extra, member, (*path, name)))
            stack += reversed(below)


def compile_names(schema: object, resolve: Resolve) -> MemberNames:
    """The names of a schema and its subschemas, which may be recursive."""

    def fill(
        names: MemberNames, node: Mapping[str, Any], names_of: Callable[[object], MemberNames]
    ) -> None:
        properties = properties_of(node, resolve)
        names.fields = {name: names_of(sub) for name, sub in properties.items()}
        names.extra = names_of(extra_of(node, resolve))
        names.items = names_of(items_of(node, resolve))
        names.open = not properties or any(map(_is_open, branches(node, resolve)))

    return compile_parts(schema, resolve, MemberNames, fill)


def _is_open(node: Mapping[str, object]) -> bool:
    extra = node.get("additionalProperties")
    return extra is True or isinstance(extra, Mapping) or bool(node.get("patternProperties"))
