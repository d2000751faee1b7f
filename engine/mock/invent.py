"""Makes a minimal value of a schema, for answers without an example in the document.

Examples, constants and defaults are preferred. An object has its required members, an array one
item, a union its first branch. Recursion ends as soon as the schema allows.
"""

from __future__ import annotations

from typing import Any

from engine.spec.document.node import Node

_DEEPEST = 12
_SHALLOW = 6
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


def invent(schema: Node, depth: int = 0) -> Any:
    """A value of the schema; None if it names no type."""
    schema = schema.resolved()
    keywords = schema.value
    if not isinstance(keywords, dict):
        return None
    for key in ("example", "const", "default"):
        if keywords.get(key) is not None:
            return keywords[key]
    if isinstance(keywords.get("examples"), list) and keywords["examples"]:
        return keywords["examples"][0]
    if isinstance(keywords.get("enum"), list) and keywords["enum"]:
        return keywords["enum"][0]
    merged = _merged(schema, depth)
    if merged is not None:
        return merged
    kind = keywords.get("type", "object" if "properties" in keywords else None)
    if isinstance(kind, list):
        kind = next((name for name in kind if name != "null"), "null")
    return _of_type(kind, schema, depth)


def _merged(schema: Node, depth: int) -> Any:
    """The value of the branches: all of `allOf`, the first of a union; None without branches."""
    parts = [invent(part, depth) for part in schema.get("allOf").elements()]
    for keyword in ("oneOf", "anyOf"):
        branches = list(schema.get(keyword).elements())
        if branches:
            branch = next((b for b in branches if not _is_null(b.value)), branches[0])
            parts.append(invent(branch, depth))
    if not parts:
        return None
    if all(isinstance(part, dict) for part in parts):
        properties = _object(schema, depth) if "properties" in schema.value else {}
        return {name: value for part in (*parts, properties) for name, value in part.items()}
    return parts[-1]


def _is_null(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "null"


def _of_type(kind: Any, schema: Node, depth: int) -> Any:
    if kind == "object":
        return _object(schema, depth)
    if kind == "array":
        min_items = schema.value.get("minItems", 0)
        if depth >= _SHALLOW and not min_items:
            return []
        return [invent(schema.get("items"), depth + 1)] * max(min_items, 1)
    if kind in ("integer", "number"):
        return _number(schema.value)
    if kind == "string":
        text = _TEXTS.get(schema.value.get("format", ""), "text")
        return text.ljust(schema.value.get("minLength", 0), "x")
    return False if kind == "boolean" else None


def _object(schema: Node, depth: int) -> dict[str, Any]:
    if depth >= _DEEPEST:
        return {}
    required = schema.value.get("required")
    names = required if isinstance(required, list) else []
    properties = schema.get("properties")
    return {name: invent(properties.get(name), depth + 1) for name in names}


def _number(schema: dict[str, Any]) -> Any:
    low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    number = low + 1 if "exclusiveMinimum" in schema else low
    high = schema.get("maximum", number)
    return min(number, high) if number or "minimum" in schema else min(1, high) if high else 0
