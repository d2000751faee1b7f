"""Conditions on requests: a JSON Schema for a member of the body, a parameter or a header.

Texts (parameters, headers, fields of forms) are read as numbers or booleans where the schema speaks
of those. What is given twice is refused: two readers may see two values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs
import orjson

from engine.exchange.exchange import MISSING, Exchange
from engine.source.suggestion import did_you_mean
from engine.spec import expression
from engine.spec.expression import Expression, lenient_name
from engine.spec.media_types import is_json
from engine.spec.named_members import NamedMembers
from engine.spec.refusal_messages import Refusal, explain, place
from engine.values.errors import GatewayError

WHOLE = "schema"
"""The name that stands for the whole body."""

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
"""Keywords by the type of the values that they are about: JSON Schema lets all others through."""
_SCHEMAS = frozenset(
    {"items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else"}
)
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_MAPPINGS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_KNOWN = (
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
    text is read as a number or a boolean, where it is one. `members` are those that the schema
    names.
    """

    place: str
    name: str
    expression: Expression | None
    schema: str
    as_scalar: bool
    validator: Any = field(compare=False, repr=False)
    members: NamedMembers = field(compare=False, repr=False)

    def value(self, exchange: Exchange) -> Any:
        """The value in a request, or MISSING. Raises GatewayError 400 if it is given twice."""
        if self.expression is None:
            value, span = exchange.value, (0, exchange.body.size)
        else:
            value, at = self.expression.check(exchange)
            span = at or (0, 0)
        if isinstance(value, dict | list) and self.place == "body":
            is_text = is_json(exchange.media_type)
            if is_text:
                self._refuse_repeats(bytes(exchange.body.buffer[span[0] : span[1]]))
            self._refuse_spellings(value, str.casefold if is_text else lenient_name)
        if self.as_scalar and isinstance(value, str) and not self._is_json_member(exchange):
            return _scalar(value)
        return value

    def holds(self, exchange: Exchange) -> bool:
        """Whether the request has the value, and the schema accepts it."""
        value = self.value(exchange)
        return value is not MISSING and bool(self.validator.is_valid(value))

    def refusal(self, exchange: Exchange) -> Refusal:
        """The refusal of a request for its value here, or for the lack of it."""
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
        """The place as a refusal names it; "" for the whole body."""
        if self.expression is None:
            return ""
        return place([int(step) if step.isdigit() else step for step in self.expression.steps])

    def _is_json_member(self, exchange: Exchange) -> bool:
        return self.place == "body" and is_json(exchange.media_type)

    def _refuse_repeats(self, text: bytes) -> None:
        """Refuse a JSON value in which an object has a name twice."""

        def unique(pairs: list[tuple[str, Any]]) -> None:
            if len({name for name, _ in pairs}) < len(pairs):
                raise self._unclear("has a name twice; which of the two is meant cannot be told")

        try:
            json.loads(text, object_pairs_hook=unique)
        except RecursionError as error:
            raise self._unclear("is nested too deeply") from error

    def _refuse_spellings(self, value: Any, reading: Callable[[str], str]) -> None:
        """Refuse a member that some servers take for one that the schema names."""
        if self.members and (found := self.members.misspelt(value, reading)):
            raise self._unclear(f"has {found[0][:200]!r}, which may be taken for '{found[1]}'")

    def _unclear(self, words: str) -> GatewayError:
        subject = f"'{self.param}'" if self.param else "The request body"
        return GatewayError(400, "invalid_value", f"{subject} {words}.", param=self.param)


def compile_condition(place: str, name: str, value: Any, *, required: bool) -> Condition:
    """The condition that a value of the config describes. `place` is body, query, header or path.

    `required`: what meets the condition is let through, so keywords accept only values of the type
    that they are about. Raises ValueError for a place or a schema that is none.
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
    at, members = _expression(place, name), NamedMembers(schema)
    return Condition(place, name, at, text, as_scalar, validator, members)


def _expression(place: str, name: str) -> Expression | None:
    if place != "body":
        return expression.parse(f"$request.{place}.{name}")
    if name == WHOLE:
        return None
    pointer = name if name.startswith("/") else "/" + name.replace("~", "~0").replace("/", "~1")
    return expression.parse(f"$request.body#{pointer}")


def _schema(value: Any) -> Any:
    """The JSON Schema for a value as it is written: a value for itself, a list for its values."""
    if isinstance(value, dict):
        return value
    return {"enum": value} if isinstance(value, list) else {"const": value}


def _check_keywords(schema: Any, where: str) -> None:
    """Raises ValueError for a keyword that JSON Schema would ignore."""
    for below, at in _below(schema, where):
        for word in below:
            if word not in _KNOWN:
                hint = did_you_mean(word, _KNOWN, "see https://json-schema.org")
                raise ValueError(f"'{at}' has '{word}', which is no keyword here; {hint}")


def _below(schema: Any, at: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """A schema and all schemas in it, each with its place."""
    if not isinstance(schema, dict):
        return
    yield schema, at
    for word, value in schema.items():
        if word in _SCHEMAS:
            yield from _below(value, f"{at}.{word}")
        elif word in _LISTS and isinstance(value, list):
            for index, each in enumerate(value):
                yield from _below(each, f"{at}.{word}[{index}]")
        elif word in _MAPPINGS and isinstance(value, dict):
            for name, each in value.items():
                yield from _below(each, f"{at}.{word}.{name}")


def _with_type(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with the type that its keywords are about, unless it names one."""
    implied = sorted(kind for kind, words in _KEYWORDS.items() if not words.isdisjoint(schema))
    return {"type": implied, **schema} if implied and "type" not in schema else schema


def _types(schema: Any) -> frozenset[str]:
    """The types of values that a schema speaks of."""
    types: set[str] = set()
    for below, _ in _below(schema, ""):
        named = below.get("type", [])
        types |= {named} if isinstance(named, str) else set(named)
        types |= {kind for kind, words in _KEYWORDS.items() if not words.isdisjoint(below)}
        values = [*below.get("enum", []), *([below["const"]] if "const" in below else [])]
        types |= {"boolean" if isinstance(v, bool) else "number" for v in values if _is_scalar(v)}
    return frozenset(types)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def _scalar(text: str) -> Any:
    """A text as the number or boolean that it is, else as it is."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return value if _is_scalar(value) else text
