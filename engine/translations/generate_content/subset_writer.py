"""JSON Schema -> Gemini's subset, for models that take no JSON Schema.

The subset has no references: what they lead to is written out. Before that is encoded, it is
measured, so that a schema that would grow too large costs no more than its own size.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Raw

from engine.translations.generate_content.schemas import (
    MAX_DEPTH,
    decode_schema,
    encode_schema,
    too_deep,
)
from engine.translations.neutral.argument_schemas import resolved
from engine.translations.neutral.json_members import WrongType, encode
from engine.translations.neutral.losses import TooLarge, most_bytes
from engine.values.trees import Json

_KNOWN = {
    *("title", "description", "nullable", "maxItems", "minItems", "minProperties"),
    *("maxProperties", "minimum", "maximum", "minLength", "maxLength", "pattern"),
    *("propertyOrdering", "default"),
}
_FORMATS = ("enum", "date-time", "int32", "int64", "float", "double", "byte")
_ABOUT = ("title", "description", "default", "nullable")
"""Keywords that may stand beside a reference."""

_NULL = {"type": "null"}
_ANY: Json = {"type": "OBJECT"}

_MAX_REPEATS = 20_000
"""How many schemas are written more than once, since references lead around in circles."""

_MAX_TYPES = 16
_NO_CUT = 1_000


class SubsetWriter:
    """Writes the JSON Schemas of one request, which has `size` bytes, in Gemini's subset.

    What the subset cannot say is left out, so that it accepts no less. References into `$defs` are
    written out; one inside itself becomes any object. Together the schemas become no larger than
    the request may (`most_bytes`).
    """

    def __init__(self, size: int) -> None:
        self._most = self._left = most_bytes(size)

    def write(self, schema: Raw, place: str) -> Raw:
        """The schema at `place`. Raises WrongType, also where it is too deep, and TooLarge."""
        writer = _Writer(decode_schema(schema, place), place, self._most)
        subset = writer.write()
        sizes = _Sizes()
        if (size := sizes.of(subset)) > self._left:
            detail = _GROWTH.format(size) if writer.has_references else ""
            raise TooLarge(sizes.largest(subset, place), self._most, detail)
        text = encode_schema(subset, place)
        self._left -= len(bytes(text))
        return text


class _Writer:
    """Writes one JSON Schema in the subset. Each schema in it is written once, also if several
    references lead to it, and the results are shared; only what depends on the way that led to it,
    because a reference inside itself was cut, is written again."""

    has_references = False

    def __init__(self, document: object, place: str, most: int) -> None:
        self._document, self._place, self._most = document, place, most
        self._written: dict[int, tuple[Json, int] | None] = {}
        """The subsets by the ids of their schemas, with their levels; None for one that is written
        again each time."""
        self._repeats = _MAX_REPEATS
        self._cut = _NO_CUT
        """The outermost reference that was cut, as its index in `inside`."""
        self._reached = 0

    def write(self) -> Json:
        return self._subset(self._document, (), 0)

    def _subset(self, schema: object, inside: tuple[str, ...], depth: int) -> Json:
        """One schema, not to be changed; `inside` are the references that led to it."""
        if not isinstance(schema, dict):
            return _ANY
        subset = self._written.get(id(schema), _UNKNOWN)
        if subset is None:
            self._repeats -= 1
            if self._repeats < 0:
                raise TooLarge(self._place, self._most, _CIRCLES)
        levels = subset[1] if subset is not None else 0
        if depth + levels > MAX_DEPTH:
            raise too_deep(self._place)
        if subset is not None and subset is not _UNKNOWN:
            self._reached = max(self._reached, depth + levels)
            return subset[0]
        cut, reached = self._cut, self._reached
        self._cut, self._reached = _NO_CUT, depth
        result = self._new_subset(schema, inside, depth)
        is_free = self._cut >= len(inside)
        self._written[id(schema)] = (result, self._reached - depth) if is_free else None
        self._cut = cut if is_free else min(cut, self._cut)
        self._reached = max(reached, self._reached)
        return result

    def _new_subset(self, schema: Json, inside: tuple[str, ...], depth: int) -> Json:
        result: Json = {}
        reference = schema.get("$ref")
        if isinstance(reference, str):
            self.has_references = True
            if reference in inside:
                self._cut = min(self._cut, inside.index(reference))
                return _ANY
            target = resolved(reference, self._document)
            shared = self._subset(target, (*inside, reference), depth + 1)
            schema = {key: schema[key] for key in _ABOUT if key in schema}
            if not schema:
                return shared
            result = dict(shared)
        for key, value in schema.items():
            self._keyword(key, value, result, inside, depth + 1)
        return result

    def _keyword(
        self, key: str, value: object, result: Json, inside: tuple[str, ...], depth: int
    ) -> None:
        if key == "type":
            self._type(value, result)
        elif key in ("const", "enum"):
            self._enum([value] if key == "const" else self._list(key, value), result)
        elif key == "required":
            result[key] = self._list(key, value)
        elif key == "properties":
            if not isinstance(value, dict):
                raise self._wrong(key, "an object")
            result[key] = {name: self._subset(each, inside, depth) for name, each in value.items()}
        elif key == "items":
            result[key] = self._subset(value, inside, depth)
        elif key in ("anyOf", "oneOf", "allOf"):
            self._alternatives(key, self._list(key, value), result, inside, depth)
        elif key == "format":
            if value in _FORMATS:
                result[key] = value
        elif key in _KNOWN:
            result[key] = value

    def _type(self, value: Any, result: Json) -> None:
        types = value if isinstance(value, list) else [value]
        if len(types) > _MAX_TYPES or not all(isinstance(each, str) for each in types):
            raise self._wrong("type", "a word or a list of words, 16 at most")
        names = [each.upper() for each in types if each != "null"]
        if "null" in types and names:
            result["nullable"] = True
        if len(names) == 1 or not names:
            result["type"] = names[0] if names else "NULL"
        else:
            result["anyOf"] = [{"type": name} for name in names]

    def _enum(self, values: list[object], result: Json) -> None:
        """The values that are allowed, which the subset has for strings only."""
        if None in values:
            result["nullable"] = True
        values = [each for each in values if each is not None]
        if values and all(isinstance(each, str) for each in values):
            result.setdefault("type", "STRING")
            result["enum"] = values

    def _alternatives(
        self, key: str, schemas: list[object], result: Json, inside: tuple[str, ...], depth: int
    ) -> None:
        """Schemas of which a value has one. Null is no alternative but a keyword; one that is left
        alone is the schema itself. What a value has all of (`allOf`) has no form but for one."""
        others = [each for each in schemas if each != _NULL]
        if key != "allOf" and len(others) < len(schemas):
            result["nullable"] = True
        if len(others) == 1:
            result.update({**self._subset(others[0], inside, depth), **result})
        elif others and key != "allOf":
            result["anyOf"] = [self._subset(each, inside, depth) for each in others]

    def _list(self, key: str, value: object) -> list[Any]:
        if not isinstance(value, list):
            raise self._wrong(key, "a list")
        return value

    def _wrong(self, key: str, expected: str) -> WrongType:
        return WrongType(self._place, f"a JSON Schema in which '{key}' is {expected}")


_UNKNOWN: tuple[Json, int] = ({}, 0)
_GROWTH = (
    "Its references ($ref) are written out for this model, and become {} bytes: repeat less of it, "
    "or ask a model that takes references."
)
_CIRCLES = (
    "Its references ($ref) lead around in circles, in too many ways to be written out for this "
    "model: let fewer of them lead to each other, or ask a model that takes references."
)


class _Sizes:
    """The bytes of subsets, each of which is measured once, wherever it stands."""

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}

    def of(self, subset: Json) -> int:
        size = self._sizes.get(id(subset))
        if size is None:
            size = 1 + max(1, sum(map(self._member, subset, subset.values())))
            self._sizes[id(subset)] = size
        return size

    def _member(self, key: str, value: Any) -> int:
        size = len(key) + 4
        if key == "items":
            return size + self.of(value)
        if key == "anyOf":
            return size + 1 + max(1, sum(self.of(each) + 1 for each in value))
        if key == "properties":
            names = sum(len(encode(name)) + 2 for name in value)
            return size + 1 + max(1, names + sum(map(self.of, value.values())))
        return size + len(encode(value))

    def largest(self, subset: Json, place: str) -> str:
        """The place of the innermost schema that has more than half of all bytes."""
        half = self.of(subset) // 2
        while True:
            children = ((self.of(each), name, each) for name, each in _children(subset))
            size, name, subset = max(children, key=lambda child: child[0], default=(0, "", {}))
            if size <= half:
                return place
            place = f"{place}.{name}"


def _children(subset: Json) -> Iterator[tuple[str, Json]]:
    if "items" in subset:
        yield "items", subset["items"]
    for index, each in enumerate(subset.get("anyOf", ())):
        yield f"anyOf[{index}]", each
    for name, each in subset.get("properties", {}).items():
        yield f"properties.{name}", each
