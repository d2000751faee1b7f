"""Modelway's verdicts, by the compiled readers and validators that `serve` runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import orjson

from engine.dialects import default
from engine.exchange.exchange import MISSING, Exchange
from engine.exchange.request_body import Body
from engine.offline.second_opinion.verdict import NotComparable, Verdict
from engine.spec.bodies.request_bodies import check
from engine.spec.bodies.response_schemas import ResponseValidators
from engine.spec.document.node import Node
from engine.spec.operation import Operation
from engine.spec.parameter import Parameter
from engine.spec.schemas.json_schema_files import INTEGER_BOUNDS
from engine.spec.schemas.schema_cost import TOO_EXPENSIVE
from engine.spec.schemas.schema_validator import TooManyErrors
from engine.values.errors import GatewayError, Malformed

_UNIONS = frozenset({"anyOf", "oneOf"})
_OF_FORMATS = frozenset(limit for bounds in INTEGER_BOUNDS.values() for limit in bounds)
"""The bounds that `format: int32` and the like are compiled to."""
_MAX_ERRORS = 50


def read_body(operation: Operation, schema: Node, media_type: str, body: bytes) -> Verdict:
    """The verdict on a JSON body of `schema`; an empty body counts as none."""
    environ = {"CONTENT_TYPE": media_type}
    exchange = Exchange(operation.method, operation.path, "", environ, default())
    exchange.body = Body(body)
    rule = None
    try:
        rule = operation.bodies.parse(exchange)
        if rule is not None:
            check(rule, exchange.content.value)
    except GatewayError as error:
        validator = rule.validator if rule is not None else None
        return _refusal(error, schema, validator, exchange.content.value)
    return Verdict()


def read_parameter(parameter: Parameter, schema: Node, source: object) -> Verdict:
    """The verdict on a parameter; `source` is the input of its reader."""
    try:
        parameter.check(source)
    except GatewayError as error:
        try:
            value = parameter.read(source)
        except Malformed:
            value = MISSING
        return _refusal(error, schema, parameter.validator, value)
    return Verdict()


def read_response(answers: ResponseValidators, schema: Node, status: int, value: object) -> Verdict:
    """The verdict on a JSON response body."""
    refusal = answers.check(status, orjson.dumps(value))
    if refusal is None:
        return Verdict()
    if refusal.code == TOO_EXPENSIVE:
        raise NotComparable("validating it takes too long")
    validator = answers.validator(status)
    keywords = _keywords_of(validator, schema, value) if validator is not None else frozenset()
    return Verdict(refusal.message, keywords)


def _refusal(error: GatewayError, schema: Node, validator: object, value: object) -> Verdict:
    if error.code == TOO_EXPENSIVE:
        raise NotComparable("validating it takes too long") from error
    if validator is None or value is MISSING:
        return Verdict(error.message)
    return Verdict(error.message, _keywords_of(validator, schema, value))


def _keywords_of(validator: Any, schema: Node, value: object) -> frozenset[str]:
    try:
        errors = list(islice(validator.iter_errors(value), _MAX_ERRORS))
    except (TooManyErrors, ValueError) as error:  # ValueError: nested too deeply
        raise NotComparable("its errors are too many, or nested too deeply") from error
    return frozenset(_keywords(errors, schema))


def _keywords(errors: Iterable[Any], schema: Node) -> Iterator[str]:
    """The keywords that caused errors; for an error of a union also those of its alternatives."""
    for error in errors:
        name, details = error.kind.name, error.kind.as_dict()
        yield name
        if name in ("minimum", "maximum") and details.get("limit") in _OF_FORMATS:
            yield "format"
        if name in _UNIONS and _has_discriminator(schema, error.evaluation_path):
            yield "discriminator"
        for alternative in details.get("context") or ():
            yield from _keywords(alternative, schema)


def _has_discriminator(schema: Node, path: Sequence[str | int]) -> bool:
    """Whether the schema of the last keyword in an error's path has a discriminator."""
    node = schema
    try:
        for step in path[:-1]:
            node = node.resolved() if step == "$ref" else node.step(step)
    except KeyError:  # the compiled schema has a keyword that the document does not have
        return False
    return isinstance(node.value, dict) and "discriminator" in node.value
