"""Members of a JSON body that requests are not to have: unknown ones, which its document does not
name, and read-only ones.

A name is known if any branch of the schema has it. Every name is known if the schema describes
further members (`additionalProperties` with a schema or true, `patternProperties`) or names none.

A member is read-only if its schema is, a branch of its `allOf`, or every alternative that describes
it. By the standard requests SHOULD NOT have such members; clients send back what they have read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, KeysView, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from engine.spec.document.schema_types import (
    Resolve,
    branches,
    compile_parts,
    extra_of,
    is_marked,
    items_of,
    properties_of,
)

Path = tuple[str | int, ...]
_Way = tuple["_Way", str | int] | None
"""The way to a value: that to what holds it, and the last step. A path for each of many values that
lie deep would take as much memory as all their depths."""
_NONE: frozenset[str] = frozenset()


class MemberFinder:
    """Finds the members of one kind by a schema; an object, so that recursive schemas can refer to
    themselves. `names` are the read-only ones, None where unknown ones are looked for; with
    `is_open` every name is known."""

    __slots__ = ("extra", "fields", "is_open", "items", "names")
    fields: dict[str, MemberFinder]
    extra: MemberFinder
    items: MemberFinder
    names: frozenset[str] | None
    is_open: bool

    def paths(self, value: object) -> Iterator[Path]:
        """The paths of these members in a value, without those inside of one."""
        stack: list[tuple[MemberFinder, object, _Way]] = [(self, value, None)]
        while stack:  # a body may be nested deeper than Python can recurse
            members, value, way = stack.pop()
            below: list[tuple[MemberFinder, object, _Way]] = []
            if isinstance(value, list):
                for index, item in enumerate(value):
                    if isinstance(item, dict | list):
                        below.append((members.items, item, (way, index)))
            elif isinstance(value, dict):
                matches = members._matches(value.keys())
                for name, member in value.items():
                    if name in matches:
                        yield _path((way, name))
                    elif isinstance(member, dict | list):
                        inner = members.fields.get(name) or members.extra
                        below.append((inner, member, (way, name)))
            stack += reversed(below)

    def _matches(self, names: KeysView[str]) -> AbstractSet[str]:
        if self.names is not None:
            return self.names
        return _NONE if self.is_open else names - self.fields.keys()


def _path(way: _Way) -> Path:
    steps: list[str | int] = []
    while way is not None:
        way, step = way
        steps.append(step)
    return tuple(reversed(steps))


def unknown_members(schema: object, resolve: Resolve) -> MemberFinder:
    """Finds unknown members, by a schema and its subschemas, which may be recursive."""

    def complete(
        members: MemberFinder, node: Mapping[str, Any], properties: dict[str, object]
    ) -> None:
        members.names = None
        members.is_open = not properties or any(map(_is_open, branches(node, resolve)))

    return _compile(schema, resolve, complete)


def read_only_members(schema: object, resolve: Resolve) -> MemberFinder:
    """Finds read-only members, by a schema and its subschemas, which may be recursive."""

    def complete(
        members: MemberFinder, node: Mapping[str, Any], properties: dict[str, object]
    ) -> None:
        members.names = frozenset(
            name for name, sub in properties.items() if is_marked(sub, "readOnly", resolve)
        )

    return _compile(schema, resolve, complete)


def _compile(
    schema: object,
    resolve: Resolve,
    complete: Callable[[MemberFinder, Mapping[str, Any], dict[str, object]], None],
) -> MemberFinder:
    """The finder of a schema; `complete` says what it and those of subschemas look for."""

    def fill(
        members: MemberFinder,
        node: Mapping[str, Any],
        members_of: Callable[[object], MemberFinder],
    ) -> None:
        properties = properties_of(node, resolve)
        members.fields = {name: members_of(sub) for name, sub in properties.items()}
        members.extra = members_of(extra_of(node, resolve))
        members.items = members_of(items_of(node, resolve))
        complete(members, node, properties)

    return compile_parts(schema, resolve, MemberFinder, fill)


def _is_open(node: Mapping[str, object]) -> bool:
    extra = node.get("additionalProperties")
    return extra is True or isinstance(extra, Mapping) or bool(node.get("patternProperties"))
