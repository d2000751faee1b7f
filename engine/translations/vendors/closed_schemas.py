"""JSON Schemas to which Anthropic's models can be held: answers, and arguments of strict tools.

The vendor takes a subset: objects are closed (`additionalProperties: false`), nothing refers to
itself, and most bounds are unknown. A keyword that is not taken moves into the description, where
the model reads it. Source: the vendor's page "Structured outputs" and `transform_schema` of
anthropic-python 2.14, November 2026.
"""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any

import msgspec
from msgspec import Raw, Struct

from engine.translations.neutral.argument_schemas import describe_keywords
from engine.translations.neutral.json_members import TextCache, WrongType
from engine.values.trees import Json

_FORMATS = frozenset(
    (*("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6"), "uuid")
)
_DEFINITIONS = ("$defs", "definitions")
_REFERENCES = tuple(f"#/{name}/" for name in _DEFINITIONS)
_ABOUT = ("title", "description")
_NO_BOUNDS = ("default", "example", "examples", "deprecated", "readOnly", "writeOnly")
"""Keywords that exclude no value."""

_NO_MEANING = ("$schema", "$id", "$comment", "$anchor")
_WORDS: dict[type[Any], str] = {dict: "an object", list: "a list"}
_TYPES = {"properties": "object", "items": "array"}
"""The types of schemas without a type, by a keyword."""


class ClosedSchema(Struct, frozen=True):
    """A schema of the subset. `moved` are the keywords that became descriptions, `changed` those
    without which it takes other values. With `refused`, a keyword, there is no such schema.
    `is_any_object`: it asks for an object without saying which members that has.
    """

    schema: Raw
    moved: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    refused: str = ""
    is_any_object: bool = False


class _Refused(Exception):
    """A keyword that leaves no schema; the message is its name."""


def closed_schema(schema: Raw, place: str) -> ClosedSchema:
    """The schema at `place` in the subset. Raises WrongType for one that is not JSON Schema."""
    try:
        return _CLOSED[bytes(schema)]
    except WrongType as error:
        raise WrongType(place, error.expected) from error


def _close(text: bytes) -> ClosedSchema:
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WrongType("", "a JSON Schema") from error
    if not isinstance(document, dict):
        raise WrongType("", "a JSON Schema that is an object")
    closer = _Closer()
    try:
        for name in _DEFINITIONS:
            closer.check(name, document.get(name), dict)
        if _has_circles(document):
            raise _Refused("$ref")
        closed = closer.close(document)
    except _Refused as refused:
        return ClosedSchema(Raw(text), refused=str(refused))
    is_any = document.get("type") == "object" and "properties" not in document
    return ClosedSchema(
        Raw(text if closed == document else msgspec.json.encode(closed)),
        tuple(closer.moved),
        tuple(closer.changed),
        is_any_object=is_any and _is_open(document),
    )


_CLOSED = TextCache(_close)


def _is_open(schema: Json) -> bool:
    return schema.get("additionalProperties", True) is not False


class _Closer:
    """Closes one schema with all schemas in it."""

    def __init__(self) -> None:
        self.moved: dict[str, None] = {}
        self.changed: dict[str, None] = {}

    def close(self, schema: object) -> Json:
        """One schema, with its definitions. Raises _Refused or WrongType."""
        if not isinstance(schema, dict):
            raise _Refused("type")  # true and false say nothing of the value
        rest = {key: value for key, value in schema.items() if key not in _NO_MEANING}
        result: Json = {}
        for name in _DEFINITIONS:
            if name in rest:
                result[name] = self._each(name, rest.pop(name))
        rest = self._join_all_of(rest)
        if "$ref" in rest:
            self._reference(rest, result)
        else:
            self._value(rest, result)
        for name in _ABOUT:
            if name in rest:
                result[name] = rest.pop(name)
        self._describe(rest, result)
        return result

    def check(self, key: str, value: object, kind: type[Any]) -> Any:
        """The value of a keyword, empty for none. Raises WrongType if it is of another kind."""
        if value is None:
            return kind()
        if not isinstance(value, kind):
            raise WrongType("", f"a JSON Schema in which '{key}' is {_WORDS[kind]}")
        return value

    def _each(self, key: str, schemas: object) -> Json:
        return {name: self.close(each) for name, each in self.check(key, schemas, dict).items()}

    def _join_all_of(self, schema: Json) -> Json:
        """The schema, with what it has all of (`allOf`) as keywords of its own. Objects would be
        closed against each other there."""
        if "allOf" not in schema:
            return schema
        parts = self.check("allOf", schema.pop("allOf"), list)
        properties = dict(self.check("properties", schema.pop("properties", None), dict))
        required = [*self.check("required", schema.pop("required", None), list)]
        for part in [self._join_all_of(dict(self.check("allOf", each, dict))) for each in parts]:
            properties |= self.check("properties", part.pop("properties", None), dict)
            required += self.check("required", part.pop("required", None), list)
            if "$ref" in part and (len(parts) > 1 or properties):
                raise _Refused("allOf")
            for key, value in part.items():
                if schema.setdefault(key, value) != value and key not in _ABOUT:
                    raise _Refused("allOf")
        members = {"properties": properties, "required": required}
        return schema | {key: value for key, value in members.items() if value}

    def _reference(self, rest: Json, result: Json) -> None:
        """A reference, which stands alone: with a description it is the only one of `anyOf`."""
        reference = rest.pop("$ref")
        if not isinstance(reference, str) or not reference.startswith(_REFERENCES):
            raise _Refused("$ref")
        if rest:
            result["anyOf"] = [{"$ref": reference}]
        else:
            result["$ref"] = reference

    def _value(self, rest: Json, result: Json) -> None:
        """What says which values there are."""
        for key in ("anyOf", "oneOf"):
            if key in rest and "anyOf" not in result:
                result["anyOf"] = [self.close(o) for o in self.check(key, rest.pop(key), list)]
        values = self.check("enum", rest.get("enum"), list)
        if values and not any(isinstance(each, list | dict) for each in values):
            result["enum"] = rest.pop("enum")
        if "const" in rest and not isinstance(rest["const"], list | dict):
            result["const"] = rest.pop("const")
        kinds = rest.pop("type", None)
        words = kinds if isinstance(kinds, list) else [kinds]
        if kinds not in (None, []) and not all(isinstance(each, str) for each in words):
            raise WrongType("", "a JSON Schema in which 'type' is a word or a list of them")
        if not kinds:
            kinds = next((kind for key, kind in _TYPES.items() if key in rest), None)
        if kinds is None and not result.keys() & {"anyOf", "enum", "const"}:
            raise _Refused("type")
        if kinds is not None:
            result["type"] = kinds
        for kind in kinds if isinstance(kinds, list) else [kinds]:
            if kind in _KINDS:
                _KINDS[kind](self, rest, result)

    def _object(self, rest: Json, result: Json) -> None:
        # Nearly every schema lets members that it does not name be anything, by saying nothing.
        says_nothing = "properties" in rest and rest.get("additionalProperties", True) in (True, {})
        if _is_open(rest) and not says_nothing:
            self.changed["additionalProperties"] = None
        if "patternProperties" in rest:
            self.changed["patternProperties"] = None
        rest.pop("additionalProperties", None)
        result["properties"] = self._each("properties", rest.pop("properties", {}))
        result["additionalProperties"] = False
        if "required" in rest:
            names = self.check("required", rest.pop("required"), list)
            texts = dict.fromkeys(name for name in names if isinstance(name, str))
            result["required"] = [name for name in texts if name in result["properties"]]

    def _array(self, rest: Json, result: Json) -> None:
        items = rest.pop("items", None)
        if isinstance(items, list):
            rest["items"] = items
        elif items not in (None, True, {}):
            result["items"] = self.close(items)
        if rest.get("minItems") in (0, 1):
            result["minItems"] = rest.pop("minItems")

    def _string(self, rest: Json, result: Json) -> None:
        if isinstance(rest.get("format"), str) and rest["format"] in _FORMATS:
            result["format"] = rest.pop("format")

    def _describe(self, rest: Json, result: Json) -> None:
        """Move the keywords that are left into the description."""
        if not rest:
            return
        self.moved |= dict.fromkeys(key for key in rest if key not in _NO_BOUNDS)
        result["description"] = describe_keywords(result.get("description"), rest)


_KINDS = {"object": _Closer._object, "array": _Closer._array, "string": _Closer._string}


def _has_circles(document: Json) -> bool:
    """Whether a definition leads back to itself, or a reference to nothing."""
    graph = {
        f"#/{name}/{key}": set(_references(each))
        for name in _DEFINITIONS
        for key, each in (document.get(name) or {}).items()
    }
    if not set(_references(document)) <= graph.keys():
        return True
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        return True
    return False


def _references(schema: object) -> Iterator[str]:
    """The definitions that a schema refers to."""
    pending = [schema]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending += value.values()
            reference = value.get("$ref")
            if isinstance(reference, str):
                yield "/".join(reference.split("/", 3)[:3])
        elif isinstance(value, list):
            pending += value
