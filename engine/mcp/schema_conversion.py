"""Converts schemas of documents to JSON Schema 2020-12.

The law: what a schema accepts stays the same, but for what agents must not send (read-only
members). References lead to `$defs`, cycles too; a small target stands in place of its reference.
Keywords that clients do not know, or that only documents have, are left out (`agent_keywords.py`).
Names of `$defs` depend on nothing but the document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path as FilePath
from typing import Any

from engine.mcp.agent_keywords import adapt_bounds, adapt_format, copy_keyword
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
_PLAIN = ("enum", "type", "default", "example", "examples")
"""Keywords of a target without schemas in it, whose values may be lists."""

_MAPPINGS = ("properties", "patternProperties", "dependentSchemas")
_LIST_OF_SCHEMAS = frozenset(SUBSCHEMA_LISTS)
_ONE_SCHEMA = frozenset(SUBSCHEMAS) - {"additionalItems", "contentSchema"}
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


class SchemaTargets:
    """The targets of references in a document's schemas, of requests or, if `answers`, of answers:
    where they are, and their names in `$defs`."""

    def __init__(self, library: Library, *, answers: bool = False) -> None:
        self._library = library.parsed_once()
        self._hidden = "writeOnly" if answers else "readOnly"
        self._names: dict[_Place, str] = {}
        self._places: dict[str, _Place] = {}

    @property
    def document(self) -> Node:
        return self._library.document

    def node(self, name: str) -> Node:
        """The target with this name. Raises KeyError for one that `name` has not given."""
        uri, path = self._places[name]
        node = self._library.at(uri, "")
        for step in path:
            node = node.step(step)
        return node

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


class SchemaConversion:
    """Converts the schemas of one file."""

    def __init__(self, targets: SchemaTargets, uri: FilePath) -> None:
        self._targets, self._uri = targets, uri
        self._is_30 = targets.document.library.is_30

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
        target = self._targets.target(self._uri, ref)
        if target is None:
            return beside
        place = (target.uri, target.path)
        small = self._small(target)
        if small is not None and not (small.keys() & beside.keys() - {"description", "title"}):
            return {**small, **beside}
        return {"$ref": f"{REF}{self._targets.name(place)}", **beside}

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
        node = Node(self._targets.document.library, self._uri, (), value)
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
        hidden = self._targets.is_hidden
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
                and not (name in members and self._targets.is_hidden(self._uri, members[name]))
            ]
            if names:
                schema["required"] = [*dict.fromkeys(names)]


def _relative(uri: FilePath, root: FilePath) -> str:
    """The path of a file from the folder of the document: the same on each machine."""
    if uri == root:
        return ""
    folder = root.parent
    return str(uri.relative_to(folder)) if uri.is_relative_to(folder) else uri.name


def _folded(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()
