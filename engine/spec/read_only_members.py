"""Members of a JSON body that its document marks as read-only.

By the standard requests SHOULD NOT have them; clients send back what they have read. A member is
read-only if its schema is, a branch of its `allOf`, or every alternative that describes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from engine.spec.document.schema_types import (
    Resolve,
    compile_parts,
    extra_of,
    is_marked,
    items_of,
    properties_of,
)

Path = tuple[str | int, ...]


class ReadOnlyMembers:
    """The read-only members of a schema; an object, so that recursive schemas can refer to
    themselves."""

    __slots__ = ("extra", "fields", "items", "names")
    fields: dict[str, ReadOnlyMembers]
    extra: ReadOnlyMembers
    items: ReadOnlyMembers
    names: frozenset[str]

    def paths(self, value: object) -> Iterator[Path]:
        """The paths of the read-only members of a value, without those inside of one."""
        stack: list[tuple[ReadOnlyMembers, object, Path]] = [(self, value, ())]
        while stack:  # a body may be nested deeper than Python can recurse
            members, value, path = stack.pop()
            below: list[tuple[ReadOnlyMembers, object, Path]] = []
            if isinstance(value, list):
                for index, item in enumerate(value):
                    if isinstance(item, dict | list):
                        below.append((members.items, item, (*path, index)))
            elif isinstance(value, dict):
                for name, member in value.items():
                    if name in members.names:
                        yield (*path, name)
                    elif isinstance(member, dict | list):
                        inner = members.fields.get(name) or members.extra
                        below.append((inner, member, (*path, name)))
            stack += reversed(below)


def compile_read_only(schema: object, resolve: Resolve) -> ReadOnlyMembers:
    """The read-only members of a schema and its subschemas, which may be recursive."""

    def fill(
        members: ReadOnlyMembers,
        node: Mapping[str, Any],
        members_of: Callable[[object], ReadOnlyMembers],
    ) -> None:
        properties = properties_of(node, resolve)
        members.fields = {name: members_of(sub) for name, sub in properties.items()}
        members.extra = members_of(extra_of(node, resolve))
        members.items = members_of(items_of(node, resolve))
        members.names = frozenset(
            name for name, sub in properties.items() if is_marked(sub, "readOnly", resolve)
        )

    return compile_parts(schema, resolve, ReadOnlyMembers, fill)
