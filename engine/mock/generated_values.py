"""Makes a minimal value of a schema, for answers without an example in the document.

Examples, constants and defaults are preferred. An object has its required members, an array one
item, a union its first branch. Recursion ends as soon as the schema allows. The value of a schema
that would be very large or deep is incomplete, and may not match the schema.
"""

from __future__ import annotations

from typing import Any

from engine.spec.document.node import Node
from engine.values.trees import Json

_MAX_DEPTH = 12
_SHALLOW = 6
_MAX_VALUES = 10_000
_MAX_NESTED = 100
_MAX_ITEMS = 1_000
"""The most copies of a value, in all arrays around it together."""
_MAX_TEXT = 500_000
"""The most characters of all texts of a value together."""
_TEXTS = {
    "date": "2027-01-31",
    "date-time": "2027-01-31T12:00:00Z",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "uri": "https://example.com/",
    "email": "someone@example.com",
    "byte": "AAAA",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
}


def invent(schema: Node) -> object:
    """A value of the schema; None if it names no type."""
    return _Inventor().value(schema, 0)


class _Inventor:
    """Makes one value. `values` counts the parts that it has so far, `nested` the schemas that are
    being read, `copies` how often the arrays around it repeat the part that is being made: schemas
    can refer to others, and arrays hold arrays, so often that it would not end. `text` is the
    number of characters that texts may still have."""

    __slots__ = ("copies", "nested", "text", "values")

    def __init__(self) -> None:
        self.values = 0
        self.nested = 0
        self.copies = 1
        self.text = _MAX_TEXT

    def value(self, schema: Node, depth: int) -> Any:
        self.values += self.copies
        if self.values > _MAX_VALUES or self.nested >= _MAX_NESTED:
            return None
        self.nested += 1
        try:
            return self._value(schema.resolved(), depth)
        finally:
            self.nested -= 1

    def _value(self, schema: Node, depth: int) -> Any:
        keywords = schema.value
        if not isinstance(keywords, dict):
            return None
        for key in ("example", "const", "default"):
            if keywords.get(key) is not None:
                return keywords[key]
        for key in ("examples", "enum"):
            if isinstance(keywords.get(key), list) and keywords[key]:
                return keywords[key][0]
        branch_value = self._branch_value(schema, depth)
        if branch_value is not None:
            return branch_value
        kind = keywords.get("type", "object" if "properties" in keywords else None)
        if isinstance(kind, list):
            kind = next((name for name in kind if name != "null"), "null")
        return self._of_type(kind, schema, depth)

    def _branch_value(self, schema: Node, depth: int) -> Any:
        """The value of the branches: all of `allOf`, the first of a union; None without
        branches."""
        parts = [self.value(part, depth) for part in schema.get("allOf").elements()]
        for keyword in ("oneOf", "anyOf"):
            branches = list(schema.get(keyword).elements())
            if branches:
                branch = next((b for b in branches if not _is_null(b.value)), branches[0])
                parts.append(self.value(branch, depth))
        if not parts:
            return None
        if all(isinstance(part, dict) for part in parts):
            properties = self._object(schema, depth) if "properties" in schema.value else {}
            return {name: value for part in (*parts, properties) for name, value in part.items()}
        return parts[-1]

    def _of_type(self, kind: object, schema: Node, depth: int) -> object:
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, depth)
        if kind in ("integer", "number"):
            return _number(schema.value)
        if kind == "string":
            length = _count(schema, "minLength", self.text // self.copies)
            self.text -= length * self.copies
            return _TEXTS.get(schema.text("format"), "text").ljust(length, "x")
        return False if kind == "boolean" else None

    def _array(self, schema: Node, depth: int) -> list[object]:
        min_items = _count(schema, "minItems", _MAX_ITEMS // self.copies)
        if depth >= _SHALLOW and (not min_items or depth >= _MAX_DEPTH):
            return []
        count = max(min_items, 1)
        self.copies *= count
        item = self.value(schema.get("items"), depth + 1)
        self.copies //= count
        return [item] * count

    def _object(self, schema: Node, depth: int) -> Json:
        if depth >= _MAX_DEPTH:
            return {}
        required = schema.value.get("required")
        names = required if isinstance(required, list) else []
        properties = schema.get("properties")
        return {
            name: self.value(properties.get(name), depth + 1)
            for name in names
            if isinstance(name, str)
        }


def _is_null(schema: object) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "null"


def _count(schema: Node, keyword: str, most: int) -> int:
    """The count that a keyword of the schema demands, at most `most`."""
    count = schema.value.get(keyword)
    return int(min(max(count, 0), most)) if _is_number(count) else 0


def _number(schema: Json) -> object:
    low = next((schema[k] for k in ("minimum", "exclusiveMinimum") if _is_number(schema.get(k))), 0)
    number = low + 1 if "exclusiveMinimum" in schema else low
    high = schema["maximum"] if _is_number(schema.get("maximum")) else number
    return min(number, high) if number or "minimum" in schema else min(1, high) if high else 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and value == value and not isinstance(value, bool)
