"""The graph of the schemas that are applied to one value, by references and branches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from engine.spec.document.reference_target import pointer_steps
from engine.spec.document.schema_keywords import (
    REFERENCES,
    SAME_VALUE,
    SAME_VALUE_LISTS,
    SAME_VALUE_MAPPINGS,
)
from engine.values.trees import Json

_AGAIN = 3
"""How often a schema with one of these keywords applies its branches: to validate, and twice to
find what they evaluate."""
_OF_MEMBERS = ("additionalProperties", "unevaluatedProperties")
_OF_ITEMS = ("items", "additionalItems", "contains", "unevaluatedItems")
Parts = Iterable[tuple[str, tuple[str | int, ...], str]]
"""Parts of files: their URI, path and JSON text."""
UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")


class Place(NamedTuple):
    """The place of a schema: the URI of its file and the path in it."""

    uri: str
    path: tuple[str | int, ...]

    def __str__(self) -> str:
        return "#" + "".join(f"/{step}" for step in self.path)


def place_of(reference: str, uri: str) -> Place:
    """The place that a reference in the file `uri` leads to."""
    file, _, fragment = reference.partition("#")
    return Place(file or uri, tuple(pointer_steps(fragment)))


class GraphSchema:
    """A schema: those that it applies to the same value (`branches`, each `times`), to a member by
    name, to any member and to any item. `place` is that of the part of a file that has it.

    `parts` are all of these, `keyed` those for parts of the value, each with a key that equal parts
    have. `order` is smaller than that of the schemas that have it as a branch. `most` is how often
    schemas are applied to one value, at most. `returns`: a schema within it refers to it."""

    __slots__ = (
        *("branches", "items", "keyed", "member", "members", "most", "order", "parts", "place"),
        *("returns", "sums", "times"),
    )

    def __init__(self, place: Place) -> None:
        self.place = place
        self.times = 1
        self.branches: list[GraphSchema] = []
        self.member: dict[str, GraphSchema] = {}
        self.members: list[GraphSchema] = []
        self.items: list[GraphSchema] = []
        self.parts: list[GraphSchema] = []
        self.keyed: list[tuple[str, GraphSchema]] = []
        self.order = 0
        self.returns = False
        self.most = 1
        self.sums: dict[str, int] = {}

    def complete(self) -> None:
        """All schemas that it applies are known."""
        self.keyed = [(f".{name}", part) for name, part in self.member.items()]
        self.keyed += [("{}", part) for part in self.members]
        self.keyed += [("[]", part) for part in self.items]
        self.parts = [*self.branches, *(part for _, part in self.keyed)]


class SchemaGraph:
    """The schemas of the parts of files, each of which is read once, for all schemas that refer to
    them: those of each of hundreds of operations may be nearly the whole document."""

    def __init__(self) -> None:
        self._texts: dict[Place, str] = {}
        self._by_place: dict[Place, GraphSchema] = {}
        self._queue: list[tuple[object, GraphSchema]] = []

    def most(self, uri: str, text: str, parts: Parts) -> int:
        """How often schemas are applied to one value, at most, as `SchemaCost.most`."""
        return sum_of([*postorder(self.root(uri, text, parts))])[0]

    def root(self, uri: str, text: str, parts: Parts) -> GraphSchema:
        """A schema, a JSON text in the file `uri`, with all that it refers to: `parts`."""
        self._texts |= {Place(part_uri, path): part for part_uri, path, part in parts}
        root = self._schema(json.loads(text), Place(uri, ()))
        for value, schema in self._queue:
            if isinstance(value, dict):
                self._read(value, schema)
        self._queue.clear()
        return root

    def _schema(self, value: Any, place: Place) -> GraphSchema:
        schema = GraphSchema(place)
        self._queue.append((value, schema))
        return schema

    def _target(self, reference: str, uri: str) -> GraphSchema | None:
        place = place_of(reference, uri)
        if place not in self._by_place and place in self._texts:
            self._by_place[place] = self._schema(json.loads(self._texts[place]), place)
        return self._by_place.get(place)

    def _read(self, value: Json, schema: GraphSchema) -> None:
        """Complete a schema with the schemas in it."""
        place = schema.place
        references = [value[k] for k in REFERENCES if isinstance(value.get(k), str)]
        targets = [self._target(reference, place.uri) for reference in references]
        schema.branches += [target for target in targets if target is not None]
        branches = [each for k in SAME_VALUE_LISTS for each in _list(value.get(k))]
        branches += [value[k] for k in SAME_VALUE if k in value]
        branches += [each for k in SAME_VALUE_MAPPINGS for each in _mapping(value.get(k)).values()]
        schema.branches += self._schemas(branches, place)
        if any(keyword in value for keyword in UNEVALUATED):
            schema.times = _AGAIN
        properties = _mapping(value.get("properties"))
        schema.member = {
            name: self._schema(each, place)
            for name, each in properties.items()
            if isinstance(each, dict)
        }
        members = [value.get(k) for k in _OF_MEMBERS]
        members += _mapping(value.get("patternProperties")).values()
        schema.members = self._schemas(members, place)
        items = [each for k in _OF_ITEMS for each in _list(value.get(k)) or [value.get(k)]]
        schema.items = self._schemas([*items, *_list(value.get("prefixItems"))], place)
        schema.complete()

    def _schemas(self, values: Iterable[object], place: Place) -> list[GraphSchema]:
        return [self._schema(value, place) for value in values if isinstance(value, dict)]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def sum_of(schemas: Sequence[GraphSchema]) -> tuple[int, Place]:
    """How often schemas are applied to one value, at most, and the innermost schema with that.
    `schemas` come after their parts, except where they return."""
    for schema in schemas:
        cost = 1
        sums: dict[str, int] = {}
        for branch in schema.branches:
            cost += schema.times * branch.sums.get("", 1)
            for key, times in branch.sums.items():
                sums[key] = sums.get(key, 0) + schema.times * times
        for key, part in schema.keyed:
            sums[key] = sums.get(key, 0) + part.most
        schema.sums = {**sums, "": cost}
        schema.most = max(schema.sums.values())
    worst = max(schemas, key=lambda schema: schema.most)
    place = next(s.place for s in schemas if s.most * 2 > worst.most)
    for schema in schemas:
        schema.sums = {}
    return worst.most, place


def postorder(root: GraphSchema) -> Iterator[GraphSchema]:
    """Every schema after those in it, without recursion; marks those that they refer back to. What
    was found of them from another root is forgotten."""
    opened, closed = {root}, set[GraphSchema]()
    path = [(root, iter(root.parts))]
    while path:
        schema, rest = path[-1]
        part = next(rest, None)
        if part is None:
            path.pop()
            closed.add(schema)
            yield schema
        elif part not in opened:
            part.returns, part.most = False, 1
            opened.add(part)
            path.append((part, iter(part.parts)))
        elif part not in closed:
            part.returns = True


def in_branch_order(schemas: Sequence[GraphSchema]) -> Iterator[GraphSchema]:
    """Every schema after its branches."""
    visited: set[GraphSchema] = set()
    for start in schemas:
        if start in visited:
            continue
        visited.add(start)
        path = [(start, iter(start.branches))]
        while path:
            schema, rest = path[-1]
            branch = next(rest, None)
            if branch is None:
                path.pop()
                yield schema
            elif branch not in visited:
                visited.add(branch)
                path.append((branch, iter(branch.branches)))
