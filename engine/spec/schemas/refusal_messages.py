"""Refusal messages: the place in the request, the expected value and the actual one.

Only the most specific error is reported: in a union, the deepest error of the best matching branch.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, NamedTuple

from engine.source.problem import path_in
from engine.source.suggestion import near
from engine.spec.document.discriminators import GUARD
from engine.spec.schemas.narrow_failure import MAX_ITEMS, Validator, invalid_parts
from engine.spec.schemas.schema_validator import SchemaValidator, TooManyErrors
from engine.values.errors import GatewayError
from engine.values.trees import Json
from engine.values.units import format_count, format_excerpt

_CODES = {
    "required": "missing_required_parameter",
    "additionalProperties": "unknown_parameter",
    "unevaluatedProperties": "unknown_parameter",
    "falseSchema": "unknown_parameter",
    "type": "invalid_type",
    "enum": "invalid_value",
    "const": "invalid_value",
    "minLength": "string_below_min_length",
    "maxLength": "string_above_max_length",
    "minItems": "array_below_min_length",
    "maxItems": "array_above_max_length",
    "minimum": "below_min_value",
    "exclusiveMinimum": "below_min_value",
    "maximum": "above_max_value",
    "exclusiveMaximum": "above_max_value",
}
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
}
"""What a value must be, by the keyword that refuses it; the members of the error are filled in."""
_COUNTED = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_MAX_LENGTH = 80
_ACTUAL = ", got "
_MAX_DEPTH = 20
_MAX_OPTIONS = 200
"""The most values of an `enum` that are compared with a misspelt value."""


class Refusal(NamedTuple):
    """The place (`messages[0].role`), a stable code, and the message."""

    param: str
    code: str
    message: str

    def error(self) -> GatewayError:
        """The refusal as the response to a request."""
        return GatewayError(400, self.code, self.message, param=self.param)


class Explanation(NamedTuple):
    """A refusal, and how far the value is from what its schema accepts: the number of its errors,
    of which the refusal is the most specific, `depth` steps into the value."""

    refusal: Refusal
    error_count: int = 1
    depth: int = 0


def explain(validator: Validator, value: object, root: str = "") -> Refusal:
    """The refusal of a `value` that `validator` refuses. `root` is the name of the value."""
    return explain_distance(validator, value, root).refusal


def explain_distance(validator: Validator, value: object, root: str = "") -> Explanation:
    """As `explain`, with the distance of the value."""
    try:
        parts, errors = invalid_parts(validator, value)
    except TooManyErrors:
        return Explanation(_unexplained(root, ", and has too many alternatives to name the place"))
    except (ValueError, RecursionError):  # jsonschema_rs copies values of at most 255 levels
        return Explanation(_unexplained(root, ", and is nested too deeply to name the place"))
    if not parts:
        return Explanation(_unexplained(root))
    best = _best(errors)
    details = best.kind.as_dict()
    if "pattern" in details and isinstance(validator, SchemaValidator):
        details["pattern"] = validator.source_pattern(best)
    path = list(path_in(parts[-1].value, best.instance_path))
    for part in reversed(parts):
        path = part.original_path(path)
    depth = len(path)
    if best.kind.name == "required":
        path.append(details["property"])
    unknown = details.get("unexpected") or []
    if best.kind.name in ("additionalProperties", "unevaluatedProperties") and unknown:
        path.append(unknown[0])
    param = place(path, root)
    message = _sentence(best, details, param or root or "the request body")
    name = best.kind.name
    if name in ("anyOf", "oneOf") and _union_types(details["context"]):
        name = "type"
    refusal = Refusal(param, _CODES.get(name, "invalid_value"), message)
    return Explanation(refusal, len(errors), depth)


def _unexplained(root: str, reason: str = "") -> Refusal:
    subject = root or "the request body"
    message = f"Invalid value: {subject} does not match its schema{reason}."
    return Refusal(root, "invalid_value", message)


def place(path: Sequence[str | int], root: str = "") -> str:
    """`["messages", 0, "role"]` -> `messages[0].role`."""
    text = root
    for step in path[:_MAX_DEPTH]:
        if isinstance(step, str):
            step = format_excerpt(step, _MAX_LENGTH)
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def _best(errors: Sequence[Any]) -> Any:
    """The most specific error: the first that is not of a union, else the deepest in a union."""
    best = min(errors, key=lambda error: (_weight(error), len(error.instance_path)))
    while best.kind.name in ("anyOf", "oneOf"):
        branches = [branch for branch in best.kind.as_dict()["context"] if branch]
        branches = [b for b in branches if not _names_another(b)] or branches
        if not branches:
            break
        if len(branches) == 1:
            best = _best(branches[0])
            continue
        candidates = [b for b in branches if not _wrong_kind(b, best)] or branches
        candidates = [b for b in candidates if not _wrong_members(b, best)] or candidates
        candidates = [b for b in candidates if not _wrong_tag(b, best)] or candidates
        if len(candidates) > 1 and all(_wrong_kind(branch, best) for branch in candidates):
            break
        best = _best(max(candidates, key=_depth))
    return best


def _names_another(branch: Sequence[Any]) -> bool:
    """Whether the value's discriminator names another branch of the union."""
    excluded = [error.kind.as_dict()["schema"] for error in branch if error.kind.name == "not"]
    return any(isinstance(schema, dict) and GUARD in schema for schema in excluded)


def _weight(error: Any) -> int:
    return {"anyOf": 1, "oneOf": 1, "not": 1}.get(error.kind.name, 0)


def _wrong_kind(branch: Sequence[Any], union: Any) -> bool:
    """Whether a branch of a union refuses the value itself, not one of its members."""
    depth = len(union.instance_path)
    return any(
        error.kind.name in ("type", "const", "enum") and len(error.instance_path) == depth
        for error in branch
    )


def _wrong_members(branch: Sequence[Any], union: Any) -> bool:
    """Whether a branch of a union is a map, and refuses every member by its type."""
    value, depth = union.instance, len(union.instance_path)
    refused = {
        error.instance_path[depth]
        for error in branch
        if error.kind.name == "type"
        and len(error.instance_path) == depth + 1
        and "additionalProperties" in error.schema_path
    }
    return isinstance(value, dict) and len(refused) == len(value) > 0


def _wrong_tag(branch: Sequence[Any], union: Any) -> bool:
    """Whether a branch of a union has another tag, a field like `type` with one value."""
    depth = len(union.instance_path)
    return any(
        error.kind.name in ("const", "enum") and len(error.instance_path) == depth + 1
        for error in branch
    )


def _depth(branch: Sequence[Any]) -> int:
    return max(len(error.instance_path) for error in branch)


def _sentence(error: Any, details: Json, subject: str) -> str:
    name, actual = error.kind.name, _description(error.instance)
    subject = f"'{subject}'" if not subject.startswith("the ") else subject
    if name == "required":
        return f"Missing required parameter: {subject}.{_near_miss(error, details)}"
    if name in ("additionalProperties", "unevaluatedProperties", "falseSchema"):
        return f"Unknown parameter: {subject}."
    if name == "type":
        return f"Invalid type for {subject}: expected {_one_of(details['types'])}, {actual}."
    if name in ("anyOf", "oneOf"):
        expected = _one_of(_union_types(details["context"]))
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
        short = format_excerpt(value, _MAX_LENGTH)
        return f"got the string {short!r}" if value else "got an empty string"
    if isinstance(value, list):
        return (
            f"got an array of {format_count(len(value), 'item')}" if value else "got an empty array"
        )
    return "got an object"


def _one_of(types: Sequence[str]) -> str:
    ordered = sorted(dict.fromkeys(types), key=lambda kind: kind == "null")
    return " or ".join(_NAMES.get(kind, kind) for kind in ordered)


def _union_types(branches: Sequence[Sequence[Any]]) -> list[str]:
    """The types of a union, if every branch refuses the type of the value."""
    types: list[str] = []
    for branch in branches:
        type_lists = [e.kind.as_dict()["types"] for e in branch if e.kind.name == "type"]
        if not type_lists:
            return []
        types += type_lists[0]
    return types


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
