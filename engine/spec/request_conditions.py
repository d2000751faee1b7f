"""Conditions on requests: a JSON Schema for a member of the body, a parameter or a header.

Texts (parameters, headers, form fields) are read as numbers or booleans if the schema has those
types. A value that is given twice is refused: two parsers may read different ones. A condition for
a refusal is also met by what a lenient parser takes for a value that meets it, and by one element
of a header that is a list.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from engine.exchange.environ_headers import SINGLE_HEADERS, header_elements
from engine.exchange.exchange import MISSING, Exchange
from engine.source.problem import Path
from engine.source.suggestion import did_you_mean
from engine.spec import expression
from engine.spec.document.schema_keywords import BY_TYPE, SUBSCHEMA_LISTS
from engine.spec.expression import Expression, lenient_member, lenient_name
from engine.spec.lenient_values import LenientReading, SchemaMembers
from engine.spec.schemas.judge_in_child import GuardedValidator, draft_validator
from engine.spec.schemas.member_spellings import Spellings
from engine.spec.schemas.refusal_messages import Refusal, explain, place
from engine.spec.schemas.slow_patterns import slow_patterns
from engine.values.errors import GatewayError
from engine.values.json_pointer import pointer
from engine.values.json_spans import Ambiguous, refuse_repeated_names
from engine.values.media_types import is_json
from engine.values.trees import Json

WHOLE_BODY = "schema"
"""The name of the condition on the whole body."""

_SCHEMAS = frozenset(
    {"items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else"}
)
_MAPPINGS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_ALL_KEYWORDS = (
    frozenset({"type", "enum", "const", "title", "description", "$comment"})
    | _SCHEMAS
    | {*SUBSCHEMA_LISTS}
    | frozenset().union(*BY_TYPE.values())
    | _MAPPINGS
)
_SCALARS = frozenset({"number", "integer", "boolean"})


@dataclass(frozen=True, slots=True)
class Condition:
    """A place in a request, and the schema of its value.

    `expression` is None for the whole body. `schema` is the JSON Schema as text. `as_scalar`: a
    text that is a number or a boolean is read as such. `required`: requests that meet the condition
    pass. `members` are those that the schema names, `reading` is that of lenient parsers.
    """

    location: str
    name: str
    expression: Expression | None
    schema: str
    as_scalar: bool
    required: bool
    validator: Any = field(compare=False, repr=False)
    members: SchemaMembers = field(compare=False, repr=False)
    reading: LenientReading = field(compare=False, repr=False)

    def value(self, exchange: Exchange) -> Any:
        """The value in a request, or MISSING. Raises GatewayError 400 if it is given twice."""
        if self.expression is None:
            value, span = exchange.content.value, (0, exchange.body.size)
        else:
            value, at = self.expression.check(exchange)
            span = at or (0, 0)
        if isinstance(value, dict | list) and self.location == "body":
            is_text = is_json(exchange.content.media_type)
            if is_text:
                self._refuse_repeats(bytes(exchange.body.buffer[span[0] : span[1]]))
            self._refuse_spellings(value, lenient_member if is_text else lenient_name)
        if self.as_scalar and isinstance(value, str) and not self._is_json_member(exchange):
            return _scalar(value)
        return value

    def with_names(self, spellings: Spellings) -> Condition:
        """The condition with the documented names of members that have two spellings."""
        if self.location != "body":
            return self
        schema, name = json.loads(self.schema), self.name
        if self.expression is not None:
            steps = spellings.steps(self.expression.steps)
            name = pointer(steps)
            spellings = spellings.at(steps)
        return _compiled(self.location, name, spellings.schema(schema), required=self.required)

    def holds(self, exchange: Exchange) -> bool:
        """Whether the request has the value, and the schema accepts it: all of its elements if it
        is `required`, otherwise one of them, or what a lenient parser takes for one."""
        value = self.value(exchange)
        if value is MISSING:
            return False
        values = self._readings(value) if self.location == "header" else (value,)
        is_valid = self.validator.is_valid
        if self.required:
            return all(map(is_valid, values))
        return any(is_valid(each) or self._may_hold(each) for each in values)

    def _may_hold(self, value: object) -> bool:
        """Whether the schema accepts what a lenient parser takes a value for."""
        reading = self.reading.read(value)
        return reading is not value and bool(self.validator.is_valid(reading))

    def _readings(self, value: object) -> list[Any]:
        """The values that a header may stand for: its elements, and where one of them is enough,
        also all of its text, and elements without their parameters."""
        if not isinstance(value, str) or self.name.lower() in SINGLE_HEADERS:
            return [value]
        elements = header_elements(value) or [value]
        if not self.required:
            plain = [element.partition(";")[0].strip() for element in elements]
            elements = list(dict.fromkeys((value, *elements, *plain)))
        return list(map(_scalar, elements)) if self.as_scalar else elements

    def refusal(self, exchange: Exchange) -> Refusal:
        """The refusal of a request whose value breaks the schema or is missing."""
        value = self.value(exchange)
        if value is MISSING:
            subject = f"parameter: '{self.param}'" if self.param else "body"
            code, message = "missing_required_parameter", f"Missing required {subject}."
            return Refusal(self.param, code, message)
        if self.required and not self.validator.is_valid(value):
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
        return self.location == "body" and is_json(exchange.content.media_type)

    def _refuse_repeats(self, text: bytes) -> None:
        """Refuse a JSON value in which an object repeats a name."""
        try:
            refuse_repeated_names(text)
        except Ambiguous as error:
            raise self._ambiguous(str(error)) from error

    def _refuse_spellings(self, value: object, reading: Callable[[str], str]) -> None:
        """Refuse a member that some servers take for one that the schema names."""
        if self.members and (spelling := self.members.misspelt(value, reading)):
            raise self._ambiguous(
                f"has {spelling[0][:200]!r}, which may be taken for '{spelling[1]}'"
            )

    def _ambiguous(self, words: str) -> GatewayError:
        subject = f"'{self.param}'" if self.param else "The request body"
        return GatewayError(400, "invalid_value", f"{subject} {words}.", param=self.param)


class ConditionError(ValueError):
    """A condition that is not JSON Schema. `at` is the path of the fault below the mapping of
    places; `key`: it is a key."""

    def __init__(self, message: str, at: Path, hint: str = "", *, key: bool = False) -> None:
        super().__init__(message)
        self.at = at
        self.hint = hint
        self.key = key


_ABBREVIATIONS = {
    "min": "minimum",
    "max": "maximum",
    "gte": "minimum",
    "lte": "maximum",
    "gt": "exclusiveMinimum",
    "lt": "exclusiveMaximum",
    "eq": "const",
    "equals": "const",
    "in": "enum",
    "one_of": "enum",
    "regex": "pattern",
    "matches": "pattern",
}
"""Keywords of JSON Schema by the words that other programs have for them."""


def compile_condition(location: str, name: str, value: object, *, required: bool) -> Condition:
    """The condition that a value of the config describes; `location`: body, query, header, path.

    `required`: requests that meet the condition pass, so a keyword must not accept values of types
    to which it does not apply. Raises ConditionError for an invalid schema, ValueError for an
    invalid location.
    """
    schema = _schema(value)
    _check_keywords(schema, (location, name))
    schema = _with_type(schema) if required else schema
    return _compiled(location, name, schema, required=required)


def _compiled(location: str, name: str, schema: Any, *, required: bool) -> Condition:
    """Raises ValueError for an invalid location or schema."""
    try:
        text = json.dumps(schema, sort_keys=True, allow_nan=False)
        validator = draft_validator(schema)
    except ValueError as error:  # also jsonschema_rs.ValidationError
        reason = str(error).splitlines()[0]
        path = getattr(error, "instance_path", ())
        message = f"'{location}.{name}' is not a JSON Schema: {reason}"
        raise ConditionError(message, (location, name, *path)) from error
    slow = slow_patterns((text,))
    guarded = validator if slow is None else GuardedValidator(validator, slow, text)
    as_scalar = bool(_types(schema) & _SCALARS)
    at, members = _expression(location, name), SchemaMembers(schema)
    reading = LenientReading(schema)
    return Condition(location, name, at, text, as_scalar, required, guarded, members, reading)


def _expression(location: str, name: str) -> Expression | None:
    if location != "body":
        return expression.parse(f"$request.{location}.{name}")
    if name == WHOLE_BODY:
        return None
    at = name if name.startswith("/") else pointer([name])
    return expression.parse(f"$request.body#{at}")


def _schema(value: Any) -> Any:
    """The JSON Schema for a value of the config: a scalar allows itself, a list its items."""
    if isinstance(value, dict):
        return value
    return {"enum": value} if isinstance(value, list) else {"const": value}


def _check_keywords(schema: object, path: Path) -> None:
    """Raises ConditionError for a keyword that JSON Schema would ignore."""
    for subschema, at in _subschemas(schema, path):
        for word in subschema:
            if word not in _ALL_KEYWORDS:
                where = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in at)[1:]
                message = f"'{where}' has the unknown keyword '{word}'"
                name = _ABBREVIATIONS.get(word)
                hint = did_you_mean(word, _ALL_KEYWORDS, "see https://json-schema.org")
                hint = f"did you mean '{name}'?" if name else hint
                raise ConditionError(message, (*at, word), hint, key=True)


def _subschemas(schema: object, at: Path) -> Iterator[tuple[Mapping[str, Any], Path]]:
    """A schema and all its subschemas, each with its place."""
    if not isinstance(schema, dict):
        return
    yield schema, at
    for word, value in schema.items():
        if word in _SCHEMAS:
            yield from _subschemas(value, (*at, word))
        elif word in SUBSCHEMA_LISTS and isinstance(value, list):
            for index, subschema in enumerate(value):
                yield from _subschemas(subschema, (*at, word, index))
        elif word in _MAPPINGS and isinstance(value, dict):
            for name, subschema in value.items():
                yield from _subschemas(subschema, (*at, word, name))


def _with_type(schema: Json) -> Json:
    """The schema with the types to which its keywords apply, unless it has `type`."""
    implied = sorted(kind for kind, words in BY_TYPE.items() if not words.isdisjoint(schema))
    return {"type": implied, **schema} if implied and "type" not in schema else schema


def _types(schema: object) -> frozenset[str]:
    """The types of values that a schema or its keywords name."""
    types: set[str] = set()
    for part, _ in _subschemas(schema, ()):
        kinds = part.get("type", [])
        types |= {kinds} if isinstance(kinds, str) else set(kinds)
        types |= {kind for kind, words in BY_TYPE.items() if not words.isdisjoint(part)}
        values = [*part.get("enum", []), *([part["const"]] if "const" in part else [])]
        types |= {"boolean" if isinstance(v, bool) else "number" for v in values if _is_scalar(v)}
    return frozenset(types)


def _is_scalar(value: object) -> bool:
    return isinstance(value, bool | int | float)


def _scalar(text: str) -> Any:
    """The number or boolean that a text stands for, else the text."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return value if _is_scalar(value) else text
