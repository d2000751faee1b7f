"""The sentence of a refusal: what a value is, and what its schema wants."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import islice
from typing import Any

from engine.source.suggestion import near
from engine.spec.schemas.narrow_failure import MAX_ITEMS
from engine.values.trees import Json
from engine.values.units import format_count, format_excerpt

_NAMES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "an array",
    "object": "an object",
    "null": "null",
}
_EXPECTATIONS = {
    "minLength": "expected at least {limit} characters",
    "maxLength": "expected at most {limit} characters",
    "minItems": "expected at least {limit} items",
    "maxItems": "expected at most {limit} items",
    "minProperties": "expected at least {limit} fields",
    "maxProperties": "expected at most {limit} fields",
    "minimum": "expected {limit} or more",
    "maximum": "expected {limit} or less",
    "exclusiveMinimum": "expected more than {limit}",
    "exclusiveMaximum": "expected less than {limit}",
    "uniqueItems": "expected items that differ from each other",
    "pattern": "expected a match of {pattern}",
    "format": "expected the format {format}",
    "multipleOf": "expected a multiple of {multiple_of}",
    "contains": "expected an item that matches 'contains'",
    "minContains": "expected more items that match 'contains'",
    "maxContains": "expected fewer items that match 'contains'",
}
"""What a value must be, by the keyword that refuses it; the members of the error are filled in."""
_COUNTED = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_ACTUAL = ", got "
_MAX_OPTIONS = 200
"""The most values of an `enum` that are compared with a misspelt value."""
MAX_LENGTH = 80


def sentence(error: Any, details: Json, subject: str) -> str:
    name, actual = error.kind.name, _description(error.instance)
    subject = f"'{subject}'" if not subject.startswith("the ") else subject
    if name == "required":
        return f"Missing required parameter: {subject}.{_near_miss(error, details)}"
    if name in ("additionalProperties", "unevaluatedProperties", "falseSchema"):
        return f"Unknown parameter: {subject}."
    if name == "type":
        return f"Invalid type for {subject}: expected {_one_of(details['types'])}, {actual}."
    if name in ("anyOf", "oneOf"):
        expected = _one_of(union_types(details["context"]))
        if expected:
            return f"Invalid type for {subject}: expected {expected}, {actual}."
        count = "more than one" if any(not branch for branch in details["context"]) else "none"
        return f"Invalid value for {subject}: it matches {count} of the schemas allowed here."
    if name == "enum":
        options = [_option(option) for option in details["options"]]
        text = error.instance if isinstance(error.instance, str | int) else ""
        suggestion = near(text, options[:_MAX_OPTIONS])
        hint = f" Did you mean '{suggestion}'?" if suggestion else ""
        expected = f"one of {', '.join(options[:20])}"
        return f"Invalid value for {subject}: expected {expected}, {actual}.{hint}"
    if name == "const":
        return f"Invalid value for {subject}: expected {_constant(details['expected_value'])}."
    if name == "not":
        return f"Invalid value for {subject}: this value is excluded, {actual}."
    if name == "pattern" and "pattern" not in details:
        return f"Invalid value for {subject}: its pattern takes too long to compare, {actual}."
    if name == "contains":  # the error of all three keywords
        name = str(error.schema_path[-1])
    expected = _EXPECTATIONS.get(name, f"it does not satisfy '{name}'").format(**details)
    if details.get("limit") == 1 and name in _COUNTED:
        expected = expected.removesuffix("s")
    return f"Invalid value for {subject}: {expected}, {actual}."


def without_value(message: str) -> str:
    """A message without the actual value, for those who must not see it."""
    return message.partition(_ACTUAL)[0]


def _description(value: Any) -> str:
    """The end of a sentence that says what the value is: `got an empty array`."""
    if isinstance(value, bool):
        return f"got {str(value).lower()}"
    if value is None:
        return "got null"
    if isinstance(value, int | float):
        return f"got {value}"
    if isinstance(value, str):
        short = format_excerpt(value, MAX_LENGTH)
        return f"got the string {short!r}" if value else "got an empty string"
    if isinstance(value, list):
        return (
            f"got an array of {format_count(len(value), 'item')}" if value else "got an empty array"
        )
    return "got an object"


def _one_of(types: Sequence[str]) -> str:
    ordered = sorted(dict.fromkeys(types), key=lambda kind: kind == "null")
    return " or ".join(_NAMES.get(kind, kind) for kind in ordered)


def _near_miss(error: Any, details: Json) -> str:
    """A hint if a member has a name similar to the missing one."""
    value, missing = error.instance, details["property"]
    suggestion = near(missing, islice(value, MAX_ITEMS)) if isinstance(value, dict) else None
    if suggestion is None:
        return ""
    # Two letters may differ; a name with more differences is another field.
    length = len(missing) + len(suggestion)
    if SequenceMatcher(None, missing, suggestion).ratio() * length < length - 4:
        return ""
    return f" Did you misspell it as '{suggestion}'?"


def _option(value: object) -> str:
    return (value or "''") if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _constant(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else _option(value)


def union_types(branches: Sequence[Sequence[Any]]) -> list[str]:
    """The types of a union, if every branch refuses the type of the value."""
    types: list[str] = []
    for branch in branches:
        type_lists = [e.kind.as_dict()["types"] for e in branch if e.kind.name == "type"]
        if any(e.kind.name == "enum" and e.kind.as_dict()["options"] == [None] for e in branch):
            type_lists = [["null"]]  # what a nullable reference of 3.0 is repaired to
        if not type_lists:
            return []
        types += type_lists[0]
    return types
