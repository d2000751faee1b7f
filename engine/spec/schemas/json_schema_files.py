"""Schemas of OpenAPI as plain JSON Schema (Draft 4 for 3.0, 2020-12 for 3.1).

OpenAPI's keywords are translated: `nullable` of 3.0; `readOnly` and `writeOnly` by purpose; number
formats as bounds; `discriminator` as guards of the branches. Formats that are not in
CHECKED_FORMATS are annotations, as the standard says.
"""

from __future__ import annotations

from enum import Enum
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any

from engine.source.problem import Path
from engine.spec.document import discriminators
from engine.spec.document.compact_json import has_any_key
from engine.spec.document.node import Library, Node
from engine.spec.document.packed_mappings import unpacked
from engine.spec.document.schema_keywords import LITERAL, NAMING
from engine.spec.document.schema_types import is_marked
from engine.spec.schemas.lenient_schema import EXACT, described_mappings, optional_members, relax
from engine.values.trees import Json

CHECKED_FORMATS = frozenset({"byte", "date", "date-time", "uuid", "email", "ipv4", "ipv6"})
"""String formats that are enforced; all others are ignored."""

INT_OR_STRING = "int-or-string"
"""The format of Kubernetes for a text in whose place an integer may be: `maxSurge: 1` or `25%`."""

_BITS = (8, 16, 32, 64)
INTEGER_BOUNDS = {
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in _BITS},
    **{f"uint{bits}": (0, 2**bits - 1) for bits in _BITS},
}
"""The least and the most of the formats of integers, which apply to every number."""

EXACT_SUFFIX = "?exact"
"""The end of the URI of the copy of a file that is not relaxed."""

_DEPTHS = {"components": 3, "paths": 2, "definitions": 2, "parameters": 2, "responses": 2}
"""The number of steps to what has a name, by the first step of its path in a document."""
_TRANSLATED = (b'"format":', b'"nullable":', b'"discriminator":')
"""The keys of which each schema that is translated for strict validation has one, beside those of
hidden properties."""
_SCHEMA = frozenset({"schema", "itemSchema"})


class Purpose(Enum):
    """The purpose for which schemas are compiled; it decides `readOnly` and `writeOnly`."""

    REQUEST = "request"
    LENIENT = "lenient request"
    RESPONSE = "response"


class NestedTooDeeply(Exception):
    """A schema is nested too deeply to be translated."""


def json_schema_files(library: Library, purpose: Purpose) -> dict[str, JsonSchemaFile]:
    """Every file of a library by its URI; relaxed ones a second time, not relaxed, for the schemas
    that must not be."""
    translation = _Translation(library, purpose)
    files = {uri.as_uri(): JsonSchemaFile(translation, uri) for uri in library.files}
    if purpose is Purpose.LENIENT:
        exact = (JsonSchemaFile(translation, uri, exact=True) for uri in library.files)
        files |= {uri + EXACT_SUFFIX: file for uri, file in zip([*files], exact, strict=True)}
    return files


class _Translation:
    """What the translations of all files of a library for one purpose share."""

    def __init__(self, library: Library, purpose: Purpose) -> None:
        self._packed = library
        self.library = library.parsed_once()
        self.is_30 = library.is_30
        self.is_lenient = purpose is Purpose.LENIENT
        self.hidden = "writeOnly" if purpose is Purpose.RESPONSE else "readOnly"
        """The keyword of the properties that messages of this purpose need not have."""

    @cached_property
    def described(self) -> frozenset[int]:
        """The mappings that responses reach, of which relaxed schemas are optional."""
        return described_mappings(self.library) if self.is_lenient else frozenset()

    def may_change(self, value: object) -> bool:
        """Whether the translation of a value may differ from it: a search in its JSON takes a
        hundredth of the time of a walk."""
        if self.is_lenient or has_any_key(value, (*_TRANSLATED, self._hidden_key)):
            return True
        # A reference may lead to a hidden property, which is then not required.
        return self._may_hide and all(
            has_any_key(value, (key,)) for key in (b'"$ref":', b'"required":')
        )

    @cached_property
    def _may_hide(self) -> bool:
        return self._packed.has_any_key((self._hidden_key,))

    @property
    def _hidden_key(self) -> bytes:
        return f'"{self.hidden}":'.encode()


class JsonSchemaFile:
    """A file in which every schema is plain JSON Schema. A part is translated when it is asked for:
    most of a document describes responses, and none of its requests.

    `exact`: the copy for conditions, which are not relaxed.
    """

    def __init__(self, translation: _Translation, uri: FilePath, *, exact: bool = False) -> None:
        self._root = Node(translation.library, uri, (), translation.library.files[uri].value)
        self._translation = translation
        self._is_30 = translation.is_30
        self._is_lenient = translation.is_lenient
        self._is_exact = exact
        self._refuses_unknown = not translation.is_lenient and translation.hidden == "readOnly"
        self._parts: dict[Path, object] = {}
        self._removed: list[Path] = []
        self._is_hidden_target: dict[str, bool] = {}

    def at(self, path: Path) -> Any:
        """The translated value at a path; items of lists by index, which may be a text. Raises
        KeyError, IndexError, ValueError and TypeError if there is none, and NestedTooDeeply."""
        path = tuple(map(str, path))
        part = _part_of(path)
        if part not in self._parts:
            self._parts[part] = self._translated(part)
        return _value_at(self._parts[part], path[len(part) :])

    def remove(self, path: Path) -> None:
        """Remove the value at a path."""
        self._removed.append(tuple(map(str, path)))
        self._parts.clear()

    def _translated(self, part: Path) -> object:
        value = _value_at(self._root.value, part) if part else unpacked(self._root.value)
        names, exact, is_literal = False, self._is_exact, False
        for step in part:
            if not names:
                is_literal = is_literal or step in LITERAL
                exact = exact or (self._is_lenient and step in EXACT)
            names = not names and step in NAMING
        if not is_literal and self._translation.may_change(value):
            try:
                value = self._copy(value, names, exact)
            except RecursionError as error:
                raise NestedTooDeeply from error
        for removed in self._removed:
            if removed == part[: len(removed)]:
                raise KeyError(removed[-1])
            if removed[: len(part)] == part:
                value = _without(value, removed[len(part) :])
        return value

    def _copy(self, value: object, names: bool = False, exact: bool = False) -> object:
        """Copy a value. `names`: the keys of this mapping are names, not keywords. `exact`: do not
        relax the schemas in it, because a relaxed condition makes a schema stricter."""
        if isinstance(value, list):
            return [self._copy(item, exact=exact) for item in value]
        if not isinstance(value, dict):
            return value
        if names:
            return {key: self._copy(child, exact=exact) for key, child in value.items()}
        lenient = self._is_lenient
        schema = {
            key: child
            if key in LITERAL
            else self._copy(child, key in NAMING, exact or (lenient and key in EXACT))
            for key, child in value.items()
        }
        self._format(schema)
        types = schema.get("type")
        if self._is_30 and schema.get("nullable") is True and isinstance(types, str | list):
            schema["type"] = [*([types] if isinstance(types, str) else types), "null"]
        if isinstance(schema.get("properties"), dict) and isinstance(schema.get("required"), list):
            self._read_only(value, schema)
        if "discriminator" in value:
            node = Node(self._root.library, self._root.uri, (), value)
            discriminators.guard(node, schema, refuses_unknown=self._refuses_unknown)
        if lenient and exact:
            self._refer_to_exact_copy(schema)
        elif lenient:
            described = id(value) in self._translation.described
            relax(schema, optional_members(value, self._root.follow) if described else ())
        return schema

    def _refer_to_exact_copy(self, schema: Json) -> None:
        if isinstance(ref := schema.get("$ref"), str):
            uri, _, pointer = ref.partition("#")
            schema["$ref"] = f"{uri or self._root.uri.as_uri()}{EXACT_SUFFIX}#{pointer}"

    def _format(self, schema: Json) -> None:
        name = schema.get("format")
        if not isinstance(name, str):
            return
        if name == INT_OR_STRING and schema.get("type") == "string":
            schema["type"] = ["string", "integer"]
        if name in INTEGER_BOUNDS:
            low, high = INTEGER_BOUNDS[name]
            bounds = {"minimum": low, "maximum": high}
            schema["allOf"] = [*schema.get("allOf", ()), bounds]
        if name not in CHECKED_FORMATS or (name == "byte" and not self._is_30):
            del schema["format"]

    def _read_only(self, value: Json, schema: Json) -> None:
        """Requests need not have read-only properties, and responses write-only ones; both may."""
        properties, required = value["properties"], schema["required"]
        names = [
            name
            for name in required
            if not (isinstance(name, str) and self._is_hidden(properties.get(name)))
        ]
        if len(names) < len(required):
            schema["required"] = names
            if not names:
                del schema["required"]

    def _is_hidden(self, schema: Any) -> bool:
        """Whether a property is read-only, or write-only in responses; 3.0 ignores keywords beside
        a `$ref`."""
        ref = schema.get("$ref") if isinstance(schema, dict) else None
        if isinstance(ref, str) and (self._is_30 or len(schema) == 1):
            if ref not in self._is_hidden_target:
                self._is_hidden_target[ref] = self._is_marked(schema)
            return self._is_hidden_target[ref]
        return self._is_marked(schema)

    def _is_marked(self, schema: object) -> bool:
        follow = self._root.follow
        return is_marked(
            follow(schema) if self._is_30 else schema, self._translation.hidden, follow
        )


def _part_of(path: Path) -> Path:
    """The path of the part in which a value is translated: the whole file, unless what is around
    the part cannot change the part itself."""
    depth = _DEPTHS.get(str(path[0]), 0) if path else 0
    if not depth or len(path) < depth:
        return ()
    if path[0] != "definitions" and path[:2] != ("components", "schemas"):
        for end in range(depth, len(path)):
            if path[end] in _SCHEMA:
                return path[: end + 1]
    return path[:depth]


def _value_at(value: Any, path: Path) -> object:
    """The value at a path; items of lists by index, which may be a string."""
    for step in path:
        value = value[int(step) if isinstance(value, list) else step]
    return value


def _without(value: Any, path: Path) -> object:
    """A value without what is at a path; all that is not around it is the same object."""
    step, *rest = path
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    at = int(step) if isinstance(value, list) else step
    if rest:
        copy[at] = _without(value[at], tuple(rest))
    else:
        del copy[at]
    return copy
