"""Schemas of documents as JSON Schema 2020-12 for agents: complete in themselves, and no longer
than they must be.

The law: what a schema accepts stays the same, but for what agents must not send (read-only
members). References lead to `$defs`, cycles too; a small target stands in place of its reference.
Keywords that clients do not know, or that only documents have, are left out
(`schema_keywords.py`). Names of `$defs` depend on nothing but the document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from math import inf
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import orjson

from engine.mcp.schema_keywords import adapt_bounds, adapt_format, copy_keyword
from engine.source.problem import Path
from engine.spec.document import discriminators
from engine.spec.document.node import Library, Node
from engine.spec.document.schema_keywords import (
    SUBSCHEMA_LISTS,
    SUBSCHEMAS,
)
from engine.spec.document.schema_types import is_marked
from engine.values.trees import Json

Schema = Json
_Place = tuple[FilePath, Path]

REF = "#/$defs/"
_MAX_INLINE = 160
"""Characters of the JSON of a target that stands in place of its reference."""
_MAX_LEVELS = 32
"""References within references that `edit_members` follows, as all readers of members do."""
_PLAIN = ("enum", "type", "default", "example", "examples")
"""Keywords of a target without schemas in it, whose values may be lists."""

_MAPPINGS = ("properties", "patternProperties", "dependentSchemas")
_LIST_OF_SCHEMAS = frozenset(SUBSCHEMA_LISTS)
_ONE_SCHEMA = frozenset(SUBSCHEMAS) - {"additionalItems", "contentSchema"}
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


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
        self._library = library.parsed_once()
        self._is_30 = library.is_30
        self._hidden = "writeOnly" if answers else "readOnly"
        self._definitions: dict[str, _Definition] = {}
        self._names: dict[_Place, str] = {}
        self._places: dict[str, _Place] = {}

    @property
    def document(self) -> Node:
        return self._library.document

    def convert(self, node: Node) -> Schema:
        """The schema at a node of `document`, itself no reference."""
        return _Conversion(self, node.uri).schema(node.value)

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
        """The converted target of this name. Raises KeyError for one that `name` has not given."""
        definition = self._definitions.get(name)
        if definition is None:
            uri, path = self._places[name]
            node = self._library.at(uri, "")
            for step in path:
                node = node.step(step)
            schema = self.convert(node)
            names = frozenset(references(schema))
            size = len(orjson.dumps(schema))
            definition = self._definitions[name] = _Definition(schema, names, size)
        return definition

    def of_name(self, name: str) -> Schema:
        """The target with this name in `$defs`."""
        return self._definition(name).schema

    def name(self, place: _Place) -> str:
        """The name of a target in `$defs`: its own, with a digest of its place unless it is a
        component of the document."""
        name = self._names.get(place)
        if name is None:
            uri, path = place
            last = str(path[-1]) if path else uri.stem
            name = _UNSAFE.sub("_", last)[:60] or "schema"
            if uri != self._library.root or path[:-1] != ("components", "schemas") or name != last:
                file = _relative(uri, self._library.root)
                text = "/".join((file, *map(str, path)))
                name = f"{name}_{sha256(text.encode()).hexdigest()[:6]}"
            self._names[place] = name
            self._places[name] = place
        return name

    def target(self, uri: FilePath, ref: str) -> Node | None:
        """The node that a reference leads to; None without one, of which `check` has warned."""
        try:
            return self._library.target(uri, ref)
        except KeyError:
            return None

    def is_hidden(self, uri: FilePath, schema: object) -> bool:
        """Whether messages of this kind do not have a member: read-only ones of requests."""
        follow = Node(self._library, uri, (), None).follow
        return is_marked(schema, self._hidden, follow)


class _Conversion:
    """Converts the schemas of one file."""

    def __init__(self, schemas: Schemas, uri: FilePath) -> None:
        self._schemas, self._uri = schemas, uri
        self._is_30 = schemas.document.library.is_30

    def schema(self, value: object, name: str = "") -> Schema:
        """A converted schema; `name` is that of the member whose schema it is."""
        if not isinstance(value, Mapping):
            return {"not": {}} if value is False else {}
        ref = value.get("$ref")
        if isinstance(ref, str):
            return self._reference(ref, value, name)
        schema = self._keywords(value)
        title = schema.get("title")
        if title is not None and (name and _folded(title) == _folded(name)):
            del schema["title"]
        return schema

    def _reference(self, ref: str, value: Mapping[str, Any], name: str) -> Schema:
        """A reference with what stands beside it, or its small target."""
        rest = {key: each for key, each in value.items() if key != "$ref"}
        if self._is_30:
            rest = {key: each for key, each in rest.items() if key in ("description", "title")}
        beside = self.schema(rest, name) if rest else {}
        target = self._schemas.target(self._uri, ref)
        if target is None:
            return beside
        place = (target.uri, target.path)
        small = self._small(target)
        if small is not None and not (small.keys() & beside.keys() - {"description", "title"}):
            return {**small, **beside}
        return {"$ref": f"{REF}{self._schemas.name(place)}", **beside}

    def _small(self, target: Node) -> Schema | None:
        """The converted target if it is small and refers to nothing."""
        value = target.value
        if not isinstance(value, Mapping) or any(
            isinstance(each, dict | list) and key not in _PLAIN and not key.startswith("x-")
            for key, each in value.items()
        ):
            return None
        schema = self._keywords(value)
        return schema if len(json.dumps(schema)) <= _MAX_INLINE else None

    def _keywords(self, value: Mapping[str, Any]) -> Schema:
        schema: Schema = {}
        for key, each in value.items():
            if key in _LIST_OF_SCHEMAS:
                if isinstance(each, list) and each:
                    schema[key] = [self.schema(part) for part in each]
            elif key == "items" and isinstance(each, list):
                schema["prefixItems"] = [self.schema(part) for part in each]
            elif key in _ONE_SCHEMA:
                schema[key] = each if isinstance(each, bool) and key != "not" else self.schema(each)
            elif key in _MAPPINGS:
                if isinstance(each, Mapping):
                    schema[key] = self._members(each)
            else:
                copy_keyword(schema, key, each)
        self._adapt(value, schema)
        return schema

    def _name_branches(self, value: Mapping[str, Any], schema: Schema) -> None:
        """Name the branches of a discriminator, a keyword of OpenAPI: each that accepts the texts
        of others for the property gets those that choose it."""
        node = Node(self._schemas.document.library, self._uri, (), value)
        tags = discriminators.tags_of(node)
        if tags is None:
            return
        name = value["discriminator"]["propertyName"]
        for keyword in discriminators.KEYWORDS:
            for index, branch in enumerate(value.get(keyword) or ()):
                texts = sorted(tags.get((keyword, index), ()))
                others = {text for each in tags.values() for text in each}.difference(texts)
                values = discriminators.values_of(branch, name, node.follow)
                if not texts or (values is not None and not values & others):
                    continue
                component = (discriminators.reference_of(branch) or "").rpartition("/")[2]
                texts = [text for text in texts if text != component] or texts
                choice = {"properties": {name: {"enum": texts}}}
                branch_schema = schema[keyword][index]
                schema[keyword][index] = (
                    {"allOf": [branch_schema, choice]}
                    if "properties" in branch_schema
                    else {**branch_schema, **choice}
                )

    def _members(self, members: Mapping[str, object]) -> Schema:
        hidden = self._schemas.is_hidden
        return {
            str(name): self.schema(each, str(name))
            for name, each in members.items()
            if not hidden(self._uri, each)
        }

    def _adapt(self, value: Mapping[str, Any], schema: Schema) -> None:
        """What 3.0 writes otherwise, and what agents must not send."""
        adapt_bounds(value, schema)
        if "discriminator" in value:
            self._name_branches(value, schema)
        if value.get("nullable") is True and isinstance(schema.get("type"), str):
            schema["type"] = [schema["type"], "null"]
            if "enum" in schema and None not in schema["enum"]:
                schema["enum"] = [*schema["enum"], None]
        adapt_format(schema)
        required, properties = value.get("required"), value.get("properties")
        if isinstance(required, list):
            members = properties if isinstance(properties, Mapping) else {}
            names = [
                name
                for name in required
                if isinstance(name, str)
                and not (name in members and self._schemas.is_hidden(self._uri, members[name]))
            ]
            if names:
                schema["required"] = [*dict.fromkeys(names)]


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


def _relative(uri: FilePath, root: FilePath) -> str:
    """The path of a file from the folder of the document: the same on each machine."""
    if uri == root:
        return ""
    folder = root.parent
    return str(uri.relative_to(folder)) if uri.is_relative_to(folder) else uri.name


def _folded(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()
