"""The schemas of a document: their validators, made on demand, of the parts of files that each
refers to and no others.

OpenAPI's keywords are first translated to plain JSON Schema: see `json_schema_files.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path as FilePath
from typing import NamedTuple, TypeVar

from engine.source.problem import Path
from engine.spec.document.cache import SchemaFacts
from engine.spec.document.compact_json import dumps
from engine.spec.document.node import Library, Node
from engine.spec.document.reference_target import pointer_steps, target_of
from engine.spec.schemas import broken_keyword
from engine.spec.schemas.broken_keyword import BrokenKeyword
from engine.spec.schemas.json_schema_files import (
    EXACT_SUFFIX,
    JsonSchemaFile,
    Purpose,
    json_schema_files,
)
from engine.spec.schemas.schema_cost import SchemaCost
from engine.spec.schemas.schema_graph import Place, SchemaGraph
from engine.spec.schemas.schema_validator import SchemaPart, SchemaValidator, validator_of
from engine.values.build_cache import BuildCache

_REFERENCE = re.compile(r'"\$(?:ref|dynamicRef|recursiveRef)":("(?:[^"\\]|\\.)*")')

_Place = tuple[str, Path]


class _Part(NamedTuple):
    """A part of a file, and the places that it refers to."""

    part: SchemaPart
    places: list[_Place]


class SchemaParts:
    """The parts of files by URI."""

    def __init__(self, files: Mapping[str, JsonSchemaFile]) -> None:
        self._files = files
        self._paths = {uri: FilePath(target_of(uri, FilePath())[0]) for uri in files}
        self._parts: dict[_Place, _Part] = {}

    def of(self, uri: str, path: Path) -> tuple[str, tuple[SchemaPart, ...]]:
        """The JSON of the schema at a path of a file, and the parts that it refers to, directly and
        indirectly."""
        root = self._part(uri, path)
        queue, parts = [*root.places], {}
        while queue:
            place = queue.pop()
            if place not in parts:
                parts[place], places = self._part(*place)
                queue += places
        return root.part.text, tuple(parts.values())

    def remove(self, uri: str, path: Path) -> None:
        """Remove the value at a path from its file."""
        self._files[uri].remove(path)
        self._parts.clear()

    def _part(self, uri: str, path: Path) -> _Part:
        place = (uri, path)
        if place not in self._parts:
            text = dumps(self._files[uri].at(path))
            # Also those in examples, which do no harm: they are not compiled.
            references = set(_REFERENCE.findall(text))
            targets = (self._target(uri, json.loads(reference)) for reference in references)
            places = [each for each in targets if each is not None]
            self._parts[place] = _Part(SchemaPart(uri, path, text), places)
        return self._parts[place]

    def _target(self, uri: str, reference: str) -> _Place | None:
        """The place that a reference in a file leads to: the complete file for a name. None without
        a target, which the compiler reports."""
        file, _, fragment = reference.partition("#")
        path = tuple(pointer_steps(fragment))
        try:
            if file:
                suffix = EXACT_SUFFIX if file.endswith(EXACT_SUFFIX) else ""
                target, _ = target_of(file.removesuffix(suffix), self._paths[uri])
                uri = target.as_uri() + suffix
            self._files[uri].at(path)
        except (KeyError, IndexError, ValueError, TypeError):
            return None
        return uri, path


T = TypeVar("T")

_MAX_BROKEN = 100


class Schemas:
    """The schemas of a library of OpenAPI files, for one purpose.

    `earlier`: what an earlier process found when it read the same document. `cheap`: none is
    costly, as those for another purpose are not. `has_broken` is whether one could not be
    compiled; `left_out` are the keywords that it lacks now. `expensive` are the expensive ones,
    each with its cost; `costly` the places of these and of others that may take long.
    """

    def __init__(
        self,
        library: Library,
        purpose: Purpose = Purpose.REQUEST,
        *,
        earlier: SchemaFacts | None = None,
        cheap: bool = False,
    ) -> None:
        self.is_30 = library.is_30
        self.json_name = library.json_name
        self._library = library
        self._purpose = purpose
        self._earlier = earlier
        self._is_cheap = cheap
        self.has_broken = False
        self.expensive: list[tuple[Node, SchemaCost]] = []
        self.costly: set[tuple[str, Path]] = set()
        self.left_out: list[BrokenKeyword] = []
        self._uris = {path: path.as_uri() for path in library.files}
        self._parts: SchemaParts | None = None
        self._graph = SchemaGraph()
        self._sound_parts: set[SchemaPart] = set()
        self._validators: dict[tuple[FilePath, Path], SchemaValidator] = {}
        self._shared = BuildCache()

    @property
    def is_lenient(self) -> bool:
        """Whether they are for routes that read requests leniently."""
        return self._purpose is Purpose.LENIENT

    def validator(self, node: Node) -> SchemaValidator:
        """The validator of the schema at `node`. Raises ValueError for a broken schema, and
        NestedTooDeeply."""
        key = (node.uri, node.path)
        validator = self._validators.get(key)
        if validator is None:
            uri = self._uris[node.uri]
            validator = self._sound_validator(uri, node)
            if validator.is_expensive:
                validator.cost.locate(Place(uri, node.path))
                self.expensive.append((node, validator.cost))
            if validator.is_costly:
                self.costly.add(_place(node))
            self._validators[key] = validator
        return validator

    def _sound_validator(self, uri: str, node: Node) -> SchemaValidator:
        """The compiled validator of a schema, without the keywords that cannot be compiled."""
        path, earlier = node.path, self._earlier
        is_complete = earlier is not None and not earlier.has_broken
        cheap = self._is_cheap or (earlier is not None and _place(node) not in earlier.costly)
        if self._parts is None:
            self._parts = SchemaParts(json_schema_files(self._library, self._purpose))
            self._graph = SchemaGraph()
        for _ in range(_MAX_BROKEN):
            text, parts = self._parts.of(uri, path)
            validator = validator_of(self.is_30, uri, text, parts)
            parts_are_sound = is_complete or validator.is_sound_beside(self._sound_parts)
            try:
                validator.prove(known=parts_are_sound, cheap=cheap, graph=self._graph)
            except ValueError as error:
                self.has_broken = True
                root = SchemaPart(uri, path, text)
                broken = broken_keyword.find(self.is_30, root, parts, str(error))
                if broken is None:
                    raise
                self._parts.remove(broken.uri, broken.path)
                self._graph = SchemaGraph()
                self.left_out.append(broken)
            else:
                self._sound_parts.update(parts)
                return validator
        raise ValueError(f"more than {_MAX_BROKEN} of its keywords cannot be compiled")

    def finish_reading(self) -> SchemaFacts:
        """What a later process may know of the schemas so far. Frees the copies of the files: they
        are made again for another schema, of which nothing is known if one is costly."""
        costly = frozenset(self.costly)
        self._parts, self._graph, self._sound_parts = None, SchemaGraph(), set()
        self._earlier = None if costly else self._earlier
        return SchemaFacts(has_broken=self.has_broken, costly=costly)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` returned for the first of equal keys: thousands of operations have the same
        parameters and bodies, and share them."""
        return self._shared.once(key, make)

    def first(self, parts: tuple[T, ...]) -> tuple[T, ...]:
        """The first of equal parts of operations."""
        return self.once(parts, lambda: parts)


def _place(node: Node) -> tuple[str, Path]:
    return str(node.uri), node.path
