"""The schemas of a document: their validators, made on demand.

OpenAPI's keywords are first translated to plain JSON Schema: see `json_schema_files.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path as FilePath
from typing import TypeVar

from engine.source.problem import Path
from engine.spec.document.cache import SchemaFacts
from engine.spec.document.node import Library, Node
from engine.spec.schemas import broken_keyword
from engine.spec.schemas.broken_keyword import BrokenKeyword
from engine.spec.schemas.json_schema_files import Purpose, json_schema_files
from engine.spec.schemas.schema_cost import Place, SchemaCost
from engine.spec.schemas.schema_parts import SchemaParts
from engine.spec.schemas.schema_validator import SchemaPart, SchemaValidator, validator_of
from engine.values.build_cache import BuildCache

T = TypeVar("T")

_MAX_BROKEN = 100


class Schemas:
    """The schemas of a library of OpenAPI files, for one purpose.

    `earlier`: what an earlier process found when it read the same document. `cheap`: none is
    expensive, as those for another purpose are not. `has_broken` is whether one could not be
    compiled; `left_out` are the keywords that it lacks now. `expensive` are the expensive ones,
    each with its cost.
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
        self.left_out: list[BrokenKeyword] = []
        self._uris = {path: path.as_uri() for path in library.files}
        self._parts: SchemaParts | None = None
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
            self._validators[key] = validator
        return validator

    def _sound_validator(self, uri: str, node: Node) -> SchemaValidator:
        """The compiled validator of a schema, without the keywords that cannot be compiled."""
        path, earlier = node.path, self._earlier
        is_complete = earlier is not None and not earlier.has_broken
        cheap = self._is_cheap or (earlier is not None and _place(node) not in earlier.expensive)
        if self._parts is None:
            self._parts = SchemaParts(json_schema_files(self._library, self._purpose))
        for _ in range(_MAX_BROKEN):
            text, parts = self._parts.of(uri, path)
            validator = validator_of(self.is_30, uri, text, parts)
            try:
                validator.prove(known=is_complete, cheap=cheap)
            except ValueError as error:
                self.has_broken = True
                root = SchemaPart(uri, path, text)
                broken = broken_keyword.find(self.is_30, root, parts, str(error))
                if broken is None:
                    raise
                self._parts.remove(broken.uri, broken.path)
                self.left_out.append(broken)
            else:
                return validator
        raise ValueError(f"more than {_MAX_BROKEN} of its keywords cannot be compiled")

    def finish_reading(self) -> SchemaFacts:
        """What a later process may know of the schemas so far. Frees the copies of the files: they
        are made again for another schema, of which nothing is known if one is expensive."""
        expensive = frozenset(_place(node) for node, _ in self.expensive)
        self._parts = None
        self._earlier = None if expensive else self._earlier
        return SchemaFacts(has_broken=self.has_broken, expensive=expensive)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` returned for the first of equal keys: thousands of operations have the same
        parameters and bodies, and share them."""
        return self._shared.once(key, make)

    def first(self, parts: tuple[T, ...]) -> tuple[T, ...]:
        """The first of equal parts of operations."""
        return self.once(parts, lambda: parts)


def _place(node: Node) -> tuple[str, Path]:
    return str(node.uri), node.path
