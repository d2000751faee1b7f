"""The schemas of a document: their validators, made on demand.

OpenAPI's keywords are first translated to plain JSON Schema (Draft 4 for 3.0, 2020-12 for 3.1):
`nullable` of 3.0; `readOnly` and `writeOnly` by purpose; number formats as bounds; `discriminator`
as guards of the branches. Formats that are not in CHECKED_FORMATS are annotations, as the standard
says.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from enum import Enum
from pathlib import Path as FilePath
from typing import Any, TypeVar

from engine.source.problem import Path
from engine.spec import broken_keyword, discriminators
from engine.spec.broken_keyword import BrokenKeyword
from engine.spec.document.compact_json import has_any_key
from engine.spec.document.node import Library, Node
from engine.spec.lenient_schema import EXACT, described_mappings, optional_members, relax
from engine.spec.schema_cost import Place, SchemaCost
from engine.spec.schema_parts import EXACT_SUFFIX, SchemaParts
from engine.spec.schema_types import is_marked
from engine.spec.schema_validator import SchemaPart, SchemaValidator, validator_of
from engine.values.shared_values import SharedValues

T = TypeVar("T")

CHECKED_FORMATS = frozenset({"byte", "date", "date-time", "uuid", "email", "ipv4", "ipv6"})
"""String formats that are enforced; all others are ignored."""

LITERAL = frozenset({"enum", "const", "default", "example", "examples"})
NAMING = frozenset(
    {"properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "schemas"}
    | {"parameters", "requestBodies", "responses", "paths", "content", "headers"}
)
_MOST_BROKEN = 100
_BOUNDS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


class Purpose(Enum):
    """The purpose for which schemas are compiled; it decides `readOnly` and `writeOnly`."""

    REQUEST = "request"
    LENIENT = "lenient request"
    RESPONSE = "response"


class Schemas:
    """The schemas of a library of OpenAPI files, for one purpose. Raises ValueError or
    RecursionError for files that cannot be read.

    `proven`: an earlier process has compiled the same schemas, and none is expensive. `cheap`: none
    is expensive, as those for another purpose are not. `has_broken` is whether one could not be
    compiled; `left_out` are the keywords that it lacks now. `expensive` are the expensive ones,
    each with its cost.
    """

    def __init__(
        self,
        library: Library,
        purpose: Purpose = Purpose.REQUEST,
        *,
        proven: bool = False,
        cheap: bool = False,
    ) -> None:
        self.is_30 = library.is_30
        self.json_name = library.json_name
        self._library = library
        self._purpose = purpose
        self._is_proven = proven
        self._is_cheap = proven or cheap
        self.has_broken = False
        self.expensive: list[tuple[Node, SchemaCost]] = []
        self.left_out: list[BrokenKeyword] = []
        self._uris = {path: path.as_uri() for path in library.files}
        self._parts: SchemaParts | None = self._read()
        self._validators: dict[tuple[FilePath, Path], SchemaValidator] = {}
        self._shared = SharedValues()

    def validator(self, node: Node) -> SchemaValidator:
        """The validator of the schema at `node`. Raises ValueError for a broken schema."""
        key = (node.uri, node.path)
        validator = self._validators.get(key)
        if validator is None:
            uri = self._uris[node.uri]
            validator = self._sound_validator(uri, node.path)
            if validator.is_expensive:
                validator.cost.locate(Place(uri, node.path))
                self.expensive.append((node, validator.cost))
            self._validators[key] = validator
        return validator

    def _sound_validator(self, uri: str, path: Path) -> SchemaValidator:
        """The compiled validator of a schema, without the keywords that cannot be compiled."""
        for _ in range(_MOST_BROKEN):
            self._parts = self._parts or self._read()
            text, parts = self._parts.of(uri, path)
            validator = validator_of(self.is_30, uri, text, parts)
            try:
                validator.prove(known=self._is_proven, cheap=self._is_cheap)
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
        raise ValueError(f"more than {_MOST_BROKEN} of its keywords cannot be compiled")

    def release_files(self) -> None:
        """Free the copies of the files: they are made again for another schema."""
        self._parts = None

    def _read(self) -> SchemaParts:
        return SchemaParts(dict(_resources(self._library.unpacked(), self._purpose)))

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` returned for the first of equal keys: thousands of operations have the same
        parameters and bodies, and share them."""
        return self._shared.once(key, make)

    def first(self, parts: tuple[T, ...]) -> tuple[T, ...]:
        """The first of equal parts of operations."""
        return self.once(parts, lambda: parts)


def _resources(library: Library, purpose: Purpose) -> Iterator[tuple[str, Any]]:
    """Every file by its URI, as plain JSON Schema. If relaxed schemas refer to schemas that must
    not be relaxed, every file a second time, not relaxed."""
    lenient = purpose is Purpose.LENIENT
    described = described_mappings(library) if lenient else frozenset()
    translated = translated_keys(library, purpose)
    needs_exact = False
    for uri, file in library.files.items():
        plain = PlainCopy(Node(library, uri, (), file.value), purpose, described, translated)
        needs_exact = needs_exact or plain.has_exact_references
        yield uri.as_uri(), plain.value
    for uri, file in library.files.items() if needs_exact else ():
        root = Node(library, uri, (), file.value)
        yield (
            uri.as_uri() + EXACT_SUFFIX,
            PlainCopy(root, purpose, described, translated, exact=True).value,
        )


def translated_keys(library: Library, purpose: Purpose) -> tuple[bytes, ...]:
    """The keys of which any schema that is translated for strict validation has one."""
    key = f'"{_hidden(purpose)}":'.encode()
    may_hide = any(has_any_key(file.value, (key,)) for file in library.files.values())
    references = (b'"$ref":',) if may_hide else ()  # one may lead to a hidden property
    return b'"format":', b'"nullable":', b'"discriminator":', key, *references


def _hidden(purpose: Purpose) -> str:
    """The keyword of the properties that messages of this purpose need not have."""
    return "writeOnly" if purpose is Purpose.RESPONSE else "readOnly"


def _unchanged(value: Any, translated: tuple[bytes, ...]) -> frozenset[int]:
    """The `id` of each path item, component and other large part of a file that certainly has
    nothing to translate. A walk over them takes a quarter of a start."""
    return frozenset(
        id(member)
        for member in _members(value)
        if isinstance(member, dict) and not has_any_key(member, translated)
    )


def _members(value: Any) -> Iterator[Any]:
    """The members of the members of a mapping; under `components` the members of each kind."""
    for key, members in value.items() if isinstance(value, dict) else ():
        if not isinstance(members, dict):
            continue
        if key == "components":
            yield from _members(members)
        else:
            yield from members.values()


class PlainCopy:
    """A copy of a file in which every schema is plain JSON Schema, for one purpose.

    `exact`: the copy for conditions, which are not relaxed. `described`: the mappings that
    responses reach. `translated`: the keys of `translated_keys`. `has_exact_references`: whether a
    reference leads to an exact copy.
    """

    def __init__(
        self,
        root: Node,
        purpose: Purpose,
        described: frozenset[int],
        translated: tuple[bytes, ...],
        exact: bool = False,
    ) -> None:
        self._root = root
        self._is_30 = root.library.is_30
        self._purpose = purpose
        self._described = described
        self._hidden = _hidden(purpose)
        self.has_exact_references = False
        lenient = purpose is Purpose.LENIENT
        self._unchanged = frozenset() if lenient else _unchanged(root.value, translated)
        self.value = self._copy(root.value, exact=exact)

    def _copy(self, value: Any, names: bool = False, exact: bool = False) -> Any:
        """Copy a value. `names`: the keys of this mapping are names, not keywords. `exact`: do not
        relax the schemas in it, because a relaxed condition makes a schema stricter."""
        if isinstance(value, list):
            return [self._copy(item, exact=exact) for item in value]
        if not isinstance(value, dict):
            return value
        if id(value) in self._unchanged:
            return value
        if names:
            return {key: self._copy(child, exact=exact) for key, child in value.items()}
        lenient = self._purpose is Purpose.LENIENT
        schema = {
            key: child
            if key in LITERAL
            else self._copy(child, key in NAMING, exact or (lenient and key in EXACT))
            for key, child in value.items()
        }
        self._format(schema)
        if self._is_30 and schema.get("nullable") is True and isinstance(schema.get("type"), str):
            schema["type"] = [schema["type"], "null"]
        if isinstance(schema.get("properties"), dict):
            self._read_only(value, schema)
        if "discriminator" in value:
            discriminators.guard(Node(self._root.library, self._root.uri, (), value), schema)
        if lenient and exact:
            self._refer_to_exact_copy(schema)
        elif lenient:
            described = id(value) in self._described
            relax(schema, optional_members(value, self._root.follow) if described else ())
        return schema

    def _refer_to_exact_copy(self, schema: dict[str, Any]) -> None:
        if isinstance(ref := schema.get("$ref"), str):
            uri, _, pointer = ref.partition("#")
            schema["$ref"] = f"{uri or self._root.uri.as_uri()}{EXACT_SUFFIX}#{pointer}"
            self.has_exact_references = True

    def _format(self, schema: dict[str, Any]) -> None:
        name = schema.get("format")
        if not isinstance(name, str):
            return
        if name in _BOUNDS:
            low, high = _BOUNDS[name]
            bounds = {"minimum": low, "maximum": high}
            schema["allOf"] = [*schema.get("allOf", ()), bounds]
        if name not in CHECKED_FORMATS or (name == "byte" and not self._is_30):
            del schema["format"]

    def _read_only(self, value: dict[str, Any], schema: dict[str, Any]) -> None:
        """Requests need not have read-only properties, and responses write-only ones; both may."""
        read_only = [
            name for name, member in value["properties"].items() if self._is_read_only(member)
        ]
        if not read_only:
            return
        if isinstance(schema.get("required"), list):
            schema["required"] = [name for name in schema["required"] if name not in read_only]
            if not schema["required"]:
                del schema["required"]

    def _is_read_only(self, schema: Any) -> bool:
        """Whether a property is read-only, or write-only in responses; 3.0 ignores keywords beside
        a `$ref`."""
        follow = self._root.follow
        return is_marked(follow(schema) if self._is_30 else schema, self._hidden, follow)
