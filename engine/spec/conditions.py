"""Conditions on requests: a JSON Schema for a member of the body, a parameter or a header.

Texts (parameters, headers, form fields) are read as numbers or booleans if the schema has those
types. A value that is given twice is refused: two parsers may read different ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs
import orjson

from engine.exchange.exchange import MISSING, Exchange
from engine.source.suggestion import did_you_mean
from engine.spec import expression
from engine.spec.expression import Expression
from engine.spec.media_types import is_json
from engine.spec.refusal_messages import Refusal, explain, place
from engine.values.errors import GatewayError

WHOLE_BODY = "schema"
"""The name of the condition on the whole body."""

_KEYWORDS: Mapping[str, frozenset[str]] = {
    "number": frozenset(
        {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    ),
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "array": frozenset(
        {"items", "prefixItems", "minItems", "maxItems", "uniqueItems"}
        | {"contains", "minContains", "maxContains"}
    ),
    "object": frozenset(
        {"properties", "patternProperties", "additionalProperties", "propertyNames", "required"}
        | {"minProperties", "maxProperties", "dependentRequired", "dependentSchemas"}
    ),
}
"""Keywords by the type of values to which they apply: JSON Schema accepts values of other types."""
_SCHEMAS = frozenset(
    {"items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else"}
)
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_MAPPINGS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_ALL_KEYWORDS = (
    frozenset({"type", "enum", "const", "title", "description", "$comment"})
    | _SCHEMAS
    | _LISTS
    | frozenset().union(*_KEYWORDS.values())
    | _MAPPINGS
)
_SCALARS = frozenset({"number", "integer", "boolean"})


@dataclass(frozen=True, slots=True)
class Condition:
    """A place in a request, and the schema of its value.

    `expression` is None for the whole body. `schema` is the JSON Schema as text. `as_scalar`: a
    text that is a number or a boolean is read as such.
    """

    place: str
    name: str
    expression: Expression | None
    schema: str
    as_scalar: bool
    validator: Any = field(compare=False, repr=False)

    def value(self, exchange: Exchange) -> Any:
        """The value in a request, or MISSING. Raises GatewayError 400 if it is given twice."""
        if self.expression is None:
            value, span = exchange.value, (0, exchange.body.size)
        else:
            value, at = self.expression.check(exchange)
            span = at or (0, 0)
        if isinstance(value, dict | list) and is_json(exchange.media_type):
            self._refuse_repeats(bytes(exchange.body.buffer[span[0] : span[1]]))
        if self.as_scalar and isinstance(value, str) and not self._is_json_member(exchange):
            return _scalar(value)
        return value

    def holds(self, exchange: Exchange) -> bool:
        """Whether the request has the value, and the schema accepts it."""
        value = self.value(exchange)
        return value is not MISSING and bool(self.validator.is_valid(value))

    def refusal(self, exchange: Exchange) -> Refusal:
        """The refusal of a request whose value breaks the schema or is missing."""
        value = self.value(exchange)
        if value is MISSING:
            subject = f"parameter: '{self.param}'" if self.param else "body"
            code, message = "missing_required_parameter", f"Missing required {subject}."
            return Refusal(self.param, code, message)
        if not self.validator.is_valid(value):
            return explain(self.validator, value, self.param)
        subject = f"'{self.param}'" if self.param else "the request body"
        message = f"Invalid value for {subject}: this value is not allowed here."
        return Refusal(self.param, "invalid_value", message)

    @property
    def param(self) -> str:
        """The place as in refusals: `messages[0].role`; "" for the whole body."""
        if self.expression is None:
            return ""
        return place([int(step) if step.isdigit() else step for step in self.expression.steps])

    def _is_json_member(self, exchange: Exchange) -> bool:
        return self.place == "body" and is_json(exchange.media_type)

    def _refuse_repeats(self, text: bytes) -> None:
        """Refuse a JSON value in which an object repeats a name."""

        def unique(pairs: list[tuple[str, Any]]) -> None:
            if len({name for name, _ in pairs}) < len(pairs):
                raise self._ambiguous("has an object with a repeated name; send each name once")

        try:
            json.loads(text, object_pairs_hook=unique)
        except RecursionError as error:
            raise self._ambiguous("is nested too deeply") from error

    def _ambiguous(self, words: str) -> GatewayError:
        subject = f"'{self.param}'" if self.param else "The request body"
        return GatewayError(400, "invalid_value", f"{subject} {words}.", param=self.param)


def compile_condition(place: str, name: str, value: Any, *, required: bool) -> Condition:
    """The condition that a value of the config describes. `place` is body, query, header or path.

    `required`: requests that meet the condition pass, so a keyword must not accept values of types
    to which it does not apply. Raises ValueError for an invalid place or schema.
    """
    where = f"{place}.{name}"
    schema = _schema(value)
    _check_keywords(schema, where)
    if required:
        schema = _with_type(schema)
    try:
        text = json.dumps(schema, sort_keys=True, allow_nan=False)
        validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True, offline=True)
    except ValueError as error:  # also jsonschema_rs.ValidationError
        reason = str(error).splitlines()[0]
        raise ValueError(f"'{where}' is not a JSON Schema: {reason}") from error
    as_scalar = bool(_types(schema) & _SCALARS)
    return Condition(place, name, _expression(place, name), text, as_scalar, validator)


def _expression(place: str, name: str) -> Expression | None:
    if place != "body":
        return expression.parse(f"$request.{place}.{name}")
    if name == WHOLE_BODY:
        return None
    pointer = name if name.startswith("/") else "/" + name.replace("~", "~0").replace("/", "~1")
    return expression.parse(f"$request.body#{pointer}")


def _schema(value: Any) -> Any:
    """The JSON Schema for a value of the config: a scalar allows itself, a list its items."""
    if isinstance(value, dict):
        return value
    return {"enum": value} if isinstance(value, list) else {"const": value}


def _check_keywords(schema: Any, where: str) -> None:
    """Raises ValueError for a keyword that JSON Schema would ignore."""
    for subschema, at in _subschemas(schema, where):
        for word in subschema:
            if word not in _ALL_KEYWORDS:
                hint = did_you_mean(word, _ALL_KEYWORDS, "see https://json-schema.org")
                raise ValueError(f"'{at}' has the unknown keyword '{word}'; {hint}")


def _subschemas(schema: Any, at: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """A schema and all its subschemas, each with its place."""
    if not isinstance(schema, dict):
        return
    yield schema, at
    for word, value in schema.items():
        if word in _SCHEMAS:
            yield from _subschemas(value, f"{at}.{word}")
        elif word in _LISTS and isinstance(value, list):
            for index, subschema in enumerate(value):
                yield from _subschemas(subschema, f"{at}.{word}[{index}]")
        elif word in _MAPPINGS and isinstance(value, dict):
            for name, subschema in value.items():
                yield from _subschemas(subschema, f"{at}.{word}.{name}")


def _with_type(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with the types to which its keywords apply, unless it has `type`."""
    implied = sorted(kind for kind, words in _KEYWORDS.items() if not words.isdisjoint(schema))
    return {"type": implied, **schema} if implied and "type" not in schema else schema


def _types(schema: Any) -> frozenset[str]:
    """The types of values that a schema or its keywords name."""
    types: set[str] = set()
    for part, _ in _subschemas(schema, ""):
        kinds = part.get("type", [])
        types |= {kinds} if isinstance(kinds, str) else set(kinds)
        types |= {kind for kind, words in _KEYWORDS.items() if not words.isdisjoint(part)}
        values = [*part.get("enum", []), *([part["const"]] if "const" in part else [])]
        types |= {"boolean" if isinstance(v, bool) else "number" for v in values if _is_scalar(v)}
    return frozenset(types)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def _scalar(text: str) -> Any:
    """The number or boolean that a text stands for, else the text."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return value if _is_scalar(value) else text
