"""The schemas of a document for agents: complete in themselves, and no longer than they must be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import NamedTuple

import orjson

from engine.mcp.schema_conversion import REF, Schema, SchemaConversion, SchemaTargets
from engine.spec.document.node import Library, Node

_MAX_LEVELS = 32
"""References within references that `edit_members` follows, as all readers of members do."""


class _Definition(NamedTuple):
    """A target of references, converted, the names of the targets that it refers to, and the size
    of its JSON in bytes."""

    schema: Schema
    names: frozenset[str]
    size: int


class Schemas:
    """The schemas of a document's requests, or, if `answers`, of its answers. Converts each target
    of references once."""

    def __init__(self, library: Library, *, answers: bool = False) -> None:
        self._targets = SchemaTargets(library, answers=answers)
        self._definitions: dict[str, _Definition] = {}

    @property
    def document(self) -> Node:
        return self._targets.document

    def convert(self, node: Node) -> Schema:
        """The schema at a node of `document`, itself no reference."""
        return SchemaConversion(self._targets, node.uri).schema(node.value)

    def definitions(self, names: Iterable[str], most: float = inf) -> dict[str, Schema] | None:
        """The `$defs` of these names and of all that they refer to, in the order of names; None if
        they have more than so many bytes."""
        queue, schemas, size = [*names], dict[str, Schema](), 0
        while queue:
            name = queue.pop()
            if name not in schemas:
                definition = self._definition(name)
                schemas[name] = definition.schema
                queue += definition.names
                size += definition.size
                if size > most:
                    return None
        return dict(sorted(schemas.items()))

    def _definition(self, name: str) -> _Definition:
        """The converted target of this name. Raises KeyError for one that no schema refers to."""
        definition = self._definitions.get(name)
        if definition is None:
            schema = self.convert(self._targets.node(name))
            names = frozenset(references(schema))
            size = len(orjson.dumps(schema))
            definition = self._definitions[name] = _Definition(schema, names, size)
        return definition

    def of_name(self, name: str) -> Schema:
        """The target with this name in `$defs`."""
        return self._definition(name).schema


def edit_members(
    schema: Schema, schemas: Schemas, edit: Callable[[str, Schema], Schema | None]
) -> Schema:
    """A copy of the schema of an object with its members edited, also those in `allOf`, `anyOf` and
    `oneOf`, whose references are replaced by their targets. A member that `edit` returns None for
    is left out."""
    return _edit(schema, schemas, edit, ())


def _edit(
    schema: Schema,
    schemas: Schemas,
    edit: Callable[[str, Schema], Schema | None],
    above: tuple[str, ...],
) -> Schema:
    ref = schema.get("$ref", "")
    if ref and ref not in above and len(above) < _MAX_LEVELS:
        target = schemas.of_name(ref.removeprefix(REF))
        schema = {**target, **{key: each for key, each in schema.items() if key != "$ref"}}
        above = (*above, ref)
    result = dict(schema)
    if isinstance(members := schema.get("properties"), dict):
        edited = {name: edit(name, each) for name, each in members.items()}
        result["properties"] = {n: each for n, each in edited.items() if each is not None}
        removed = {name for name, each in edited.items() if each is None}
        if removed and "required" in schema:
            result["required"] = [name for name in schema["required"] if name not in removed]
            if not result["required"]:
                del result["required"]
    for word in ("allOf", "anyOf", "oneOf"):
        if word in schema:
            result[word] = [_edit(each, schemas, edit, above) for each in schema[word]]
    return result


def references(schema: object) -> set[str]:
    """The names in `$defs` that a converted schema refers to."""
    names: set[str] = set()
    queue = [schema]
    for each in queue:
        if isinstance(each, Mapping):
            ref = each.get("$ref")
            if isinstance(ref, str) and ref.startswith(REF):
                names.add(ref.removeprefix(REF))
            queue += each.values()
        elif isinstance(each, list):
            queue += each
    return names
