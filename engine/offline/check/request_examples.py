"""The examples of requests in a document, judged by its own rules as the gateway would.

They are those of media types and parameters, and those of the schemas of requests with their
defaults. An `externalValue` is not read. Read `RequestExamples.refused` first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any, NamedTuple
from urllib.parse import quote

from engine.plan.route import Route
from engine.source.problem import Path
from engine.spec.bodies.request_bodies import Bodies
from engine.spec.document.node import Library, Node
from engine.spec.document.path_items import declared_parameters
from engine.spec.document.schema_keywords import SUBSCHEMA_LISTS
from engine.spec.operation import Operation
from engine.spec.parameter import Parameter
from engine.spec.parameters.query_string import Query
from engine.spec.schemas.compiled_schemas import Schemas
from engine.spec.schemas.refusal_messages import explain
from engine.spec.schemas.schema_validator import SchemaValidator
from engine.spec.spec import Specification
from engine.values.errors import GatewayError, Malformed
from engine.values.media_types import body_kind, essence
from engine.values.trees import Section

MAX_EXAMPLES = 5_000
"""Examples of one document that are judged."""
_MAX_SCHEMAS = 50_000
_MAX_COMPILED = 1_000
"""Schemas of one document that are visited for examples, and that are compiled for them."""

_READ_ONLY = "it is read-only and must not be sent."
_SUBSCHEMAS = ("items", "additionalProperties", "not", "if", "then", "else", "contains")
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
}
_ANNOTATIONS = frozenset(
    {"title", "description", "example", "examples", "default", "deprecated", "externalDocs"}
    | {"nullable", "readOnly", "writeOnly", "type", "enum"}
)


class RefusedExample(NamedTuple):
    """An example with its place, and the words of its refusal."""

    uri: FilePath
    path: Path
    subject: str
    refusal: str


class RequestExamples:
    """The examples of the requests of one document. `is_cut`: it has more than are judged."""

    def __init__(self, specification: Specification) -> None:
        self._compiler: Schemas | None = None
        self._library: Library = specification.library.unpacked()
        self._seen: set[tuple[FilePath, Path]] = set()
        self._schemas: set[tuple[FilePath, Path]] = set()
        self._judged = 0
        self._compiled = 0
        self.is_cut = False

    def refused(self, routes: Iterable[Route]) -> Iterator[RefusedExample]:
        """The examples that are refused, in the order of the routes, each once."""
        for route in routes:
            operation, is_strict = route.operation, route.validate == "strict"
            item = self._library.document.get("paths").get(str(operation.at[1]))
            node = item.get(str(operation.at[2]))
            yield from self._of_body(node.get("requestBody"), operation, is_strict)
            yield from self._of_parameters(item, node, operation, is_strict)

    def _of_body(
        self, body: Node, operation: Operation, is_strict: bool
    ) -> Iterator[RefusedExample]:
        subject = f"this example of {operation.id} would be refused"
        for name, media in body.get("content").items():
            validator = _validator(operation.bodies, essence(name))
            if validator is not None:
                for example in self._new(_examples(media)):
                    words = _refusal(validator, example.value)
                    if words is not None:
                        yield RefusedExample(example.uri, example.path, subject, words)
            if is_strict and body_kind(essence(name)):
                yield from self._of_schemas(media.get("schema"))

    def _of_parameters(
        self, item: Node, node: Node, operation: Operation, is_strict: bool
    ) -> Iterator[RefusedExample]:
        parameters = {(p.location, p.name): p for p in operation.parameters}
        subject = f"this example of {operation.id} would be refused"
        for declared in declared_parameters(item, node):
            parameter = parameters.get((declared.text("in"), declared.text("name")))
            if parameter is None or parameter.validator is None:
                continue
            for example in self._new(_examples(declared)):
                words = _parameter_refusal(parameter, example.value)
                if words is not None:
                    yield RefusedExample(example.uri, example.path, subject, words)
            if is_strict:
                yield from self._of_schemas(declared.get("schema"), parameter)

    def _of_schemas(
        self, root: Node, parameter: Parameter | None = None
    ) -> Iterator[RefusedExample]:
        """The refused examples and defaults of a schema of requests and of the schemas in it. Those
        of a parameter's own schema may be written as in a request."""
        stack = [root]
        while stack and len(self._schemas) < _MAX_SCHEMAS:
            schema = stack.pop()
            key = (schema.uri, schema.path)
            if not isinstance(schema.value, dict) or key in self._schemas:
                continue
            self._schemas.add(key)
            if schema.value.get("readOnly") is True:
                continue
            values = [e for e in _schema_examples(schema) if not _is_of_type(e.value, schema.value)]
            for example in self._new(values):
                kind = "default" if example.path[-1] == "default" else "example"
                words = self._schema_refusal(schema, example.value, kind)
                if words is not None and parameter is not None and schema is root:
                    words = _parameter_refusal(parameter, example.value)
                if words is not None:
                    subject = f"this {kind} does not match its schema"
                    yield RefusedExample(example.uri, example.path, subject, words)
            stack += _subschemas(schema)

    def _schema_refusal(self, schema: Node, value: object, name: str) -> str | None:
        """The words of the refusal by a schema; None for a broken one, which is reported where it
        is used."""
        if self._compiled >= _MAX_COMPILED:
            self.is_cut = True
            return None
        self._compiled += 1
        try:
            self._compiler = self._compiler or Schemas(self._library)
            validator = self._compiler.validator(schema)
        except ValueError:
            return None
        return _refusal(validator, value, name)

    def _new(self, examples: Iterable[Node]) -> Iterator[Node]:
        """The examples that have not been judged, up to the bound."""
        for example in examples:
            key = (example.uri, example.path)
            if key in self._seen:
                continue
            if self._judged >= MAX_EXAMPLES:
                self.is_cut = True
                return
            self._seen.add(key)
            self._judged += 1
            yield example


def _examples(holder: Node) -> Iterator[Node]:
    """The examples of a media type or a parameter, those of its contents included. A null is how
    generators write that there is none."""
    if holder.literal("example").value is not None:
        yield holder.literal("example")
    for example in [example for _, example in holder.get("examples").items()]:
        for key in ("value", "dataValue"):
            if example.has(key):
                yield example.literal(key)
    for media in [media for _, media in holder.get("content").items()]:
        yield from _examples(media)


def _schema_examples(schema: Node) -> Iterator[Node]:
    """The examples of a schema, and its default."""
    for key in ("example", "default"):
        if schema.value.get(key) is not None:
            yield schema.literal(key)
    examples = schema.literal("examples")
    if isinstance(examples.value, list):
        for index in range(len(examples.value)):
            yield examples.step(index)


def _subschemas(schema: Node) -> Iterator[Node]:
    for key in _SUBSCHEMAS:
        if isinstance(schema.value.get(key), dict):
            yield schema.get(key)
    for key in SUBSCHEMA_LISTS:
        yield from schema.get(key).elements()
    yield from [member for _, member in schema.literal("properties").items()]


def _is_of_type(value: Any, schema: Section) -> bool:
    """Whether a schema certainly accepts a value: it requires a type, perhaps some values, and
    nothing else."""
    types = _TYPES.get(schema["type"]) if isinstance(schema.get("type"), str) else None
    if types is None or not isinstance(value, types) or (type(value) is bool) != (types == (bool,)):
        return False
    if isinstance(options := schema.get("enum"), list) and value not in options:
        return False
    return all(key in _ANNOTATIONS or key.startswith("x-") for key in schema)


def _validator(bodies: Bodies, media_type: str) -> SchemaValidator | None:
    """The validator of bodies of a media type or range."""
    if (media_range := bodies.ranges.get(media_type)) is not None:
        rule = media_range.rules.get("json")
    else:
        rule = bodies.rules.get(media_type)
    return rule.validator if rule is not None else None


def _refusal(validator: SchemaValidator, value: object, name: str = "") -> str | None:
    """The words with which a value of this name would be refused. One that is JSON written as a
    text is read; read-only members are not faults."""
    try:
        if validator.is_valid(value):
            return None
        if isinstance(value, str) and (parsed := _parsed(value)) is not None:
            value = parsed
            if validator.is_valid(value):
                return None
        words = explain(validator, value, name).message
    except GatewayError as error:  # validating it takes too long
        words = error.message
    except (ValueError, OverflowError):
        return None  # YAML has values that JSON does not have
    return None if words.endswith(_READ_ONLY) else words


def _parsed(text: str) -> object:
    """The JSON value of a text, None if it has none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _parameter_refusal(parameter: Parameter, value: object) -> str | None:
    """The words with which a parameter would be refused, which the example gives as a value, or as
    the text of a request."""
    assert parameter.validator is not None
    if isinstance(value, str | int | float):
        text = json.dumps(value) if isinstance(value, bool) else str(value)
        if any(_accepts(parameter, spelling) for spelling in (quote(text, safe=""), text)):
            return None
    return _refusal(parameter.validator, value, parameter.name)


def _accepts(parameter: Parameter, text: str) -> bool:
    """Whether a request with a parameter of this text is accepted."""
    try:
        if parameter.location == "query":
            return parameter.accepts(Query.parse(f"{quote(parameter.name)}={text}"))
        return parameter.accepts(
            f"{parameter.name}={text}" if parameter.location == "cookie" else text
        )
    except Malformed:
        return False
