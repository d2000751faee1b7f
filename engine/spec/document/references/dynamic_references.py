"""`$dynamicRef` of JSON Schema 2020-12 (core, 8.2.3.2), written as `$ref`.

Which schema it leads to depends on the resources through which it was reached: of those that have a
`$dynamicAnchor` of its name, the outermost counts. So a schema that is reached in several ways is
copied for each, into its own `$defs`.
"""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from pathlib import Path as FilePath
from typing import NamedTuple

from engine.source.problem import Findings, Level, Path
from engine.spec.document.node import Library, Node
from engine.spec.document.reference_target import target_of
from engine.spec.document.references.reference_walk import all_references, references
from engine.spec.document.references.schema_ids import Resource, SchemaIds

MAX_COPIES = 500

_Place = tuple[FilePath, Path]
_Scope = dict[str, _Place]
"""The schema that each dynamic anchor means: that of the outermost resource with the anchor."""


class _Dynamic(NamedTuple):
    """What a `$dynamicRef` means: the anchor of this name, or this one if no resource has it."""

    name: str
    initial: _Place


class _Reading(NamedTuple):
    """A schema in the files as they were, where it is written, and the scope in which it is
    reached."""

    source: _Place
    written: Path
    scope: _Scope


def replace(library: Library, ids: SchemaIds, findings: Findings) -> None:
    """Write every `$dynamicRef` that has a target as `$ref`. Every `$ref` must have one."""
    if not ids.is_used or library.is_30:
        return
    owners = Counter(name for resource in ids.resources for name in resource.dynamic)
    dynamic: dict[_Place, _Dynamic] = {}
    for node in list(all_references(library, ("$dynamicRef",))):
        target = ids.target(node, node.value["$dynamicRef"])
        if target is None:
            continue
        resource, path = target
        name = node.value["$dynamicRef"].partition("#")[2]
        if resource.dynamic.get(name) == path and owners[name] > 1:
            dynamic[node.uri, node.path] = _Dynamic(name, (resource.file, path))
        else:
            _write(node, "$dynamicRef", (resource.file, path))
    if dynamic:
        _Copies(library, ids, dynamic, findings).write()


class _Copies:
    """The copies of schemas for the scopes in which they are reached."""

    def __init__(
        self,
        library: Library,
        ids: SchemaIds,
        dynamic: dict[_Place, _Dynamic],
        findings: Findings,
    ) -> None:
        self._library = library
        self._ids = ids
        self._dynamic = dynamic
        self._findings = findings
        self._names = {each.name for each in dynamic.values()}
        self._files = {uri: deepcopy(library.files[uri].value) for uri in ids.files}
        self._scoped = self._find_scoped()
        self._places: dict[tuple[object, ...], Path] = {}
        self._readings = [_Reading((uri, ()), (), self._around((uri, ()))) for uri in self._files]

    def write(self) -> None:
        while self._readings:
            reading = self._readings.pop()
            for node in references(self._source(reading.source), ("$ref", "$dynamicRef")):
                self._write_references(node, reading)

    def _source(self, place: _Place) -> Node:
        uri, path = place
        node = Node(self._library, uri, (), self._files[uri])
        for step in path:
            node = node.step(step)
        return node

    def _find_scoped(self) -> set[_Place]:
        """The places of everything in which, or through references from which, there is a
        reference whose target depends on the scope."""
        scoped: set[_Place] = set()
        waiting = list(all_references(self._library))
        new = list(self._dynamic)
        while new:
            for uri, path in new:
                scoped.update((uri, path[:end]) for end in range(len(path) + 1))
            nodes = [node for node in waiting if self._target(node) in scoped]
            waiting = [node for node in waiting if self._target(node) not in scoped]
            new = [(node.uri, node.path) for node in nodes]
        return scoped

    def _target(self, node: Node) -> _Place:
        uri, pointer = target_of(node.value["$ref"], node.uri)
        target = self._library.at(uri, pointer)
        return target.uri, target.path

    def _around(self, place: _Place) -> _Scope:
        """The scope of a schema that is reached through the schemas around it."""
        scope: _Scope = {}
        for end in range(len(place[1]) + 1):
            self._enter(scope, self._ids.resource_at(place[0], place[1][:end]))
        return scope

    def _enter(self, scope: _Scope, resource: Resource) -> None:
        for name, path in resource.dynamic.items():
            if name in self._names:
                scope.setdefault(name, (resource.file, path))

    def _write_references(self, node: Node, reading: _Reading) -> None:
        """Write the references of a schema of the files as they were where this one is written."""
        uri, start = reading.source
        scope = dict(reading.scope)
        for end in range(len(start), len(node.path) + 1):
            self._enter(scope, self._ids.resource_at(uri, node.path[:end]))
        holder = Node(self._library, uri, (), self._library.files[uri].value)
        for step in (*reading.written, *node.path[len(start) :]):
            holder = holder.step(step)
        if node.ref is not None:
            self._write_one(holder, "$ref", self._target(node), scope)
        if (dynamic := self._dynamic.get((uri, node.path))) is not None:
            target = scope.get(dynamic.name, dynamic.initial)
            self._write_one(holder, "$dynamicRef", target, scope)

    def _write_one(self, node: Node, keyword: str, target: _Place, outer: _Scope) -> None:
        uri, path = target
        scope = dict(outer)
        self._enter(scope, self._ids.resource_at(uri, path))
        if target in self._scoped and scope != self._around(target):
            path = self._copy(node, keyword, target, scope)
        if keyword == "$dynamicRef" or path != target[1]:
            _write(node, keyword, (uri, path))

    def _copy(self, node: Node, keyword: str, target: _Place, scope: _Scope) -> Path:
        """The path of the copy of a schema for a scope; its own path if there are too many."""
        key = (target, *sorted(scope.items()))
        if key in self._places:
            return self._places[key]
        uri, path = target
        original = self._library.at(*_pointer(self._library, target))
        if len(self._places) >= MAX_COPIES:
            message = f"there are more than {MAX_COPIES} ways to reach a '$dynamicRef'"
            at = (*node.path, keyword)
            hint = "write a $ref for each"
            self._findings.note(node.source, at, Level.WARNING, "MW202", message, hint)
            return path
        copy = deepcopy(self._source(target).value)
        definitions = original.value.setdefault("$defs", {})
        name = f"dynamic-{len(self._places) + 1}"
        place = self._places[key] = (*path, "$defs", name)
        definitions[name] = copy
        graft = self._library.origin(uri, path)
        self._library.grafts.setdefault(uri, {})[place] = graft
        self._readings.append(_Reading(target, place, scope))
        return place


def _pointer(library: Library, place: _Place) -> tuple[FilePath, str]:
    return target_of(Node(library, *place, None).pointer, place[0])


def _write(node: Node, keyword: str, target: _Place) -> None:
    """Write a reference to a place instead of this keyword; beside another reference as a branch
    of `allOf`."""
    uri, path = target
    ref = Node(node.library, uri, path, None).pointer
    if len(node.library.files) == 1:
        ref = ref[ref.index("#") :]
    node.value.pop(keyword)
    if "$ref" in node.value:
        node.value["allOf"] = [*node.value.get("allOf", ()), {"$ref": ref}]
    else:
        node.value["$ref"] = ref
