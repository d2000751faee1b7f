"""Names of schemas: `$id`, which changes the base of the references in a schema, `$anchor` and
`$dynamicAnchor`, and `id` of OpenAPI 3.0 and before (JSON Schema core, 8.2).

References are written by file and JSON Pointer instead, which all other modules understand.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urljoin

from engine.source.problem import Path
from engine.spec.document.compact_json import has_any_key
from engine.spec.document.node import Library, Node
from engine.spec.document.reference_target import UNUSABLE_NAME, pointer_steps, target_of
from engine.spec.document.schema_keywords import (
    LITERAL,
    NAMING,
    SUBSCHEMA_LISTS,
    SUBSCHEMA_MAPPINGS,
    SUBSCHEMAS,
)
from engine.values.trees import Json

_ANCHORS = ("$anchor", "$dynamicAnchor")
_NAMES = ("$id", *_ANCHORS)
_KEYS = tuple(f'"{keyword}":"'.encode() for keyword in (*_NAMES, "$dynamicRef"))
_KEYS_30 = (b'"id":"',)
_SCHEMA_FILE = frozenset(
    {"$schema", "$ref", "type", "enum", "const", *_NAMES}
    | {*SUBSCHEMAS, *SUBSCHEMA_LISTS, *SUBSCHEMA_MAPPINGS}
)
"""A file with one of these at its root is a schema, if it is no OpenAPI document."""
_HOLDERS = frozenset({"schema", "itemSchema"})
_DEPTHS_OF_PARTS = (2, 3)
"""The depths at which a part without any name is not walked."""
_MAPPINGS = frozenset({"schemas", *SUBSCHEMA_MAPPINGS})


@dataclass(slots=True)
class Resource:
    """A file, or a schema in it with an `$id`: its URI, its place, and the paths of the schemas in
    it that have an anchor."""

    uri: str
    file: FilePath
    path: Path
    anchors: dict[str, Path] = field(default_factory=dict)
    dynamic: dict[str, Path] = field(default_factory=dict)


class _Entry(NamedTuple):
    """A value to be walked. `is_schema`: it is one; `names`: its keys are names."""

    path: Path
    value: Any
    resource: Resource
    is_schema: bool
    names: bool = False


class SchemaIds:
    """The schemas with names in the files of a library."""

    def __init__(self, library: Library) -> None:
        root = library.files[library.root].value
        self._library = library
        self._is_30 = str(root.get("openapi", "3.0")).startswith("3.0")
        self._by_uri: dict[str, Resource] = {}
        self._by_place: dict[FilePath, dict[Path, Resource]] = {}
        self._named: list[Json] = []
        self.is_used = False

    @property
    def resources(self) -> Iterator[Resource]:
        """All of them, each after those around it."""
        for resources in self._by_place.values():
            yield from resources.values()

    @property
    def files(self) -> list[FilePath]:
        """The files that could be read."""
        return list(self._by_place)

    def add(self, file: FilePath, base: str) -> None:
        """Add the schemas of a file, whose URI is `base`."""
        if file in self._by_place:
            return
        value = self._library.files[file].value
        resource = Resource(base, file, ())
        self._by_place[file] = {(): resource}
        for uri in (base, file.as_uri()):
            self._by_uri.setdefault(uri, resource)
        if has_any_key(value, _KEYS_30 if self._is_30 else _KEYS):
            is_document = not isinstance(value, dict) or bool({"openapi", "swagger"} & value.keys())
            self._walk(value, resource, not is_document and bool(_SCHEMA_FILE & value.keys()))

    def _walk(self, root: object, resource: Resource, is_schema: bool) -> None:
        keys = (b'"$dynamicRef":', *(_KEYS_30 if self._is_30 else _KEYS))
        stack = [_Entry((), root, resource, is_schema)]
        while stack:
            entry = stack.pop()
            path, value, resource = entry.path, entry.value, entry.resource
            if len(path) in _DEPTHS_OF_PARTS and not has_any_key(value, keys):
                continue
            if isinstance(value, list):
                stack += [_Entry((*path, i), v, *entry[2:4]) for i, v in enumerate(value)]
            elif isinstance(value, dict):
                if not entry.names and (entry.is_schema or self._has_name(value)):
                    entry = entry._replace(is_schema=True)
                    resource = self._name(path, value, resource)
                stack += list(_below(entry._replace(resource=resource)))

    def _has_name(self, value: Json) -> bool:
        return not self._is_30 and any(isinstance(value.get(name), str) for name in _NAMES)

    def _name(self, path: Path, value: Json, resource: Resource) -> Resource:
        """Note the names of a schema. Returns the resource that its references are relative to."""
        if self._is_30:
            # Nothing counts beside a reference.
            schema_id = None if "$ref" in value else value.get("id")
        else:
            schema_id = value.get("$id")
        if isinstance(schema_id, str):
            self._note(value)
            uri, _, anchor = schema_id.partition("#")
            with suppress(ValueError):
                if uri:
                    resource = self._enter(urljoin(resource.uri, uri), path, resource)
                if anchor and self._is_30:
                    resource.anchors.setdefault(anchor, path)
        for keyword in () if self._is_30 else _ANCHORS:
            if isinstance(name := value.get(keyword), str):
                self._note(value)
                resource.anchors.setdefault(name, path)
                if keyword == "$dynamicAnchor":
                    resource.dynamic.setdefault(name, path)
        self.is_used = self.is_used or "$dynamicRef" in value
        return resource

    def _note(self, value: Json) -> None:
        self._named.append(value)
        self.is_used = True

    def _enter(self, uri: str, path: Path, outer: Resource) -> Resource:
        if path:
            resource = self._by_place[outer.file][path] = Resource(uri, outer.file, path)
        else:
            resource, outer.uri = outer, uri
        self._by_uri.setdefault(uri, resource)
        return resource

    def resource_at(self, file: FilePath, path: Path) -> Resource:
        """The innermost resource around a path of a file."""
        places = self._by_place[file]
        return next(places[path[:end]] for end in range(len(path), -1, -1) if path[:end] in places)

    def localize(self, nodes: Iterable[Node]) -> None:
        """Write each reference that has a target by file and JSON Pointer."""
        for node in nodes if self.is_used else ():
            ref = node.value["$ref"]
            if (target := self.target(node, ref)) is not None:
                node.value["$ref"] = self._written(node, ref, *target)

    def target(self, node: Node, ref: str) -> tuple[Resource, Path] | None:
        """The resource that a reference in a schema names, and the path in its file."""
        base = self.resource_at(node.uri, node.path).uri
        target, _, fragment = ref.partition("#")
        try:
            uri = urljoin(base, target) if target else base
        except ValueError:
            return None
        resource = self._by_uri.get(uri)
        if resource is None:
            return None
        if fragment and not fragment.startswith("/"):
            path = resource.anchors.get(unquote(fragment))
            return (resource, path) if path is not None else None
        try:
            target_node = Node(
                node.library, resource.file, (), node.library.files[resource.file].value
            )
            for step in (*resource.path, *pointer_steps(fragment)):
                target_node = target_node.step(step)
        except KeyError:
            return None
        return resource, target_node.path

    def _written(self, node: Node, ref: str, resource: Resource, path: Path) -> str:
        """A reference by the place of its target; as it is if it says the same."""
        pointer = Node(node.library, resource.file, path, None).pointer.partition("#")[2]
        with suppress(*UNUSABLE_NAME):
            file, fragment = target_of(ref, node.uri)
            is_pointer = not fragment or fragment.startswith("/")
            if is_pointer and (file, pointer_steps(fragment)) == (resource.file, [*map(str, path)]):
                return ref
        if resource.file == node.uri:
            return f"#{pointer}"
        relative = quote(os.path.relpath(resource.file, node.uri.parent))
        return f"{relative}#{pointer}" if pointer else relative

    def remove_names(self) -> None:
        """Remove the names, which validators would follow a second time."""
        for value in self._named:
            for keyword in ("id",) if self._is_30 else _NAMES:
                value.pop(keyword, None)


def _below(entry: _Entry) -> Iterator[_Entry]:
    """The members of a mapping in which schemas can be."""
    path, value, resource, is_schema, names = entry
    for key, child in value.items():
        if not isinstance(child, dict | list):
            continue
        at = (*path, key)
        if names:
            yield _Entry(at, child, resource, is_schema)
        elif is_schema:
            if key in SUBSCHEMAS or key in SUBSCHEMA_LISTS or key in SUBSCHEMA_MAPPINGS:
                yield _Entry(at, child, resource, True, key in SUBSCHEMA_MAPPINGS)
        elif key not in LITERAL and not str(key).startswith("x-"):
            holds = key in _HOLDERS or key in _MAPPINGS
            yield _Entry(at, child, resource, holds, key in NAMING)
