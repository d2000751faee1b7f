"""Makes a minimal value of a schema, for answers without an example in the document.

Examples, constants and defaults are preferred. An object has its required members, an array one
item, a union its first branch. Recursion ends as soon as the schema allows. The value of a schema
that would be very large or deep is incomplete, and may not match the schema.
"""

from __future__ import annotations

from typing import Any

from engine.spec.document.node import Node

_DEEPEST = 12
_SHALLOW = 6
_MOST_SCHEMAS = 10_000
_MOST_NESTED = 100
_MOST_ITEMS = 100
_LONGEST = 10_000
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


def invent(schema: Node) -> Any:
    """A value of the schema; None if it names no type."""
    return _Inventor().value(schema, 0)


class _Inventor:
    """Makes one value. `visited` counts the schemas that were read for it, `nested` those that are
    being read: schemas can refer to others so often that neither would end."""

    __slots__ = ("nested", "visited")

    def __init__(self) -> None:
        self.visited = 0
        self.nested = 0

    def value(self, schema: Node, depth: int) -> Any:
        self.visited += 1
        if self.visited > _MOST_SCHEMAS or self.nested >= _MOST_NESTED:
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
        merged = self._merged(schema, depth)
        if merged is not None:
            return merged
        kind = keywords.get("type", "object" if "properties" in keywords else None)
        if isinstance(kind, list):
            kind = next((name for name in kind if name != "null"), "null")
        return self._of_type(kind, schema, depth)

    def _merged(self, schema: Node, depth: int) -> Any:
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

    def _of_type(self, kind: Any, schema: Node, depth: int) -> Any:
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            min_items = _count(schema, "minItems", _MOST_ITEMS)
            if depth >= _SHALLOW and (not min_items or depth >= _DEEPEST):
                return []
            return [self.value(schema.get("items"), depth + 1)] * max(min_items, 1)
        if kind in ("integer", "number"):
            return _number(schema.value)
        if kind == "string":
            text = _TEXTS.get(schema.text("format"), "text")
            return text.ljust(_count(schema, "minLength", _LONGEST), "x")
        return False if kind == "boolean" else None

    def _object(self, schema: Node, depth: int) -> dict[str, Any]:
        if depth >= _DEEPEST:
            return {}
        required = schema.value.get("required")
        names = required if isinstance(required, list) else []
        properties = schema.get("properties")
        return {
            name: self.value(properties.get(name), depth + 1)
            for name in names
            if isinstance(name, str)
        }


def _is_null(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "null"


def _count(schema: Node, keyword: str, most: int) -> int:
    """The count that a keyword of the schema demands, at most `most`."""
    count = schema.value.get(keyword)
    return int(min(max(count, 0), most)) if _is_number(count) else 0


def _number(schema: dict[str, Any]) -> Any:
    low = next((schema[k] for k in ("minimum", "exclusiveMinimum") if _is_number(schema.get(k))), 0)
    number = low + 1 if "exclusiveMinimum" in schema else low
    high = schema["maximum"] if _is_number(schema.get("maximum")) else number
    return min(number, high) if number or "minimum" in schema else min(1, high) if high else 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and value == value and not isinstance(value, bool)
