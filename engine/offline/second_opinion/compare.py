"""Compares the verdicts of Modelway and openapi-core on the examples in documents and on a request.

openapi-core takes about 0.3 s to import and 3 ms per value; `serve` never imports it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from math import ceil
from typing import TYPE_CHECKING

import orjson
from msgspec import Struct

from engine.exchange.exchange import Exchange
from engine.offline.rehearsal.observation import Rehearsal
from engine.offline.second_opinion.compare_parameters import compare_parameters
from engine.offline.second_opinion.modelway_reader import read_body, read_response
from engine.offline.second_opinion.time_budget import SECONDS, TimeBudget, TimeExceeded
from engine.offline.second_opinion.verdict import Disagreement, NotComparable, Verdict, disagreement
from engine.plan.plan import Plan, PlanResult
from engine.source.failure_place import reading
from engine.source.problem import Findings, Level, place_of
from engine.spec.bodies.response_schemas import ResponseValidators
from engine.spec.document.node import Node
from engine.spec.document.path_items import example_value
from engine.spec.operation import Operation
from engine.spec.spec import Specification
from engine.values.media_types import essence, is_json
from engine.values.units import format_count

if TYPE_CHECKING:
    from engine.offline.second_opinion.openapi_core_reader import OpenapiCoreReader

MAX_EXAMPLES = 500
"""The largest number of examples of one document that are compared; of more, every nth is."""


class DocumentExample(Struct, frozen=True):
    """An example of a document: of a request body, or of a response if `status` is not 0."""

    operation: Operation
    value: Node
    schema: Node
    media_type: str
    status: int = 0


def compare_examples(planned: PlanResult) -> None:
    """Add a warning for each example of the served operations on which the two readers disagree,
    one note if some cannot be compared, and one if openapi-core takes more than SECONDS.
    """
    if planned.plan is None:
        return
    budget = TimeBudget(SECONDS)
    failures: list[tuple[DocumentExample, NotComparable]] = []
    for name, specification in planned.plan.specifications.items():
        examples = list(_examples(specification, _served_operations(planned.plan, name)))
        if not examples:
            continue
        step = ceil(len(examples) / MAX_EXAMPLES)
        reader = _reader(specification, budget)
        for example in examples[::step]:
            try:
                _compare_example(example, specification, reader, planned.findings)
            except TimeExceeded as error:
                _note_end(example, error, planned.findings)
                break
            except NotComparable as error:
                failures.append((example, error))
    if failures:
        _note_failures(failures, planned.findings)


def compare_request(plan: Plan, rehearsal: Rehearsal) -> list[str]:
    """A warning with its code for each disagreement on a rehearsed request; none for a request that
    no route serves, or whose route does not validate.
    """
    route, exchange = rehearsal.route, rehearsal.exchange
    if route is None or exchange is None or route.validate == "off" or route.operation.websocket:
        return []
    specification = plan.specifications[route.operation.spec]
    operation = specification.operations[route.operation.name]
    try:
        disagreements = list(
            _disagreements(operation, specification, exchange, rehearsal.request.body)
        )
    except NotComparable as error:
        return [f"MW422: this request was not compared: {error}"]
    return [f"MW421: {item}" for item in disagreements]


def _disagreements(
    operation: Operation, specification: Specification, exchange: Exchange, body: bytes
) -> Iterator[Disagreement]:
    reader = _reader(specification, TimeBudget(SECONDS))
    yield from compare_parameters(operation, specification, exchange, reader)
    media_type = essence(exchange.environ.get("CONTENT_TYPE", ""))
    schema = _body_schema(specification.node(operation), media_type)
    if schema is not None and _is_json_text(body):
        modelway = read_body(operation, schema, media_type, body)
        openapi_core = reader.body(operation, media_type, body)
        if (difference := disagreement("the body", modelway, openapi_core)) is not None:
            yield difference


def _reader(specification: Specification, budget: TimeBudget) -> OpenapiCoreReader:
    # Importing openapi-core takes 0.3 s, and the server does not need it.
    from engine.offline.second_opinion.openapi_core_reader import OpenapiCoreReader

    return OpenapiCoreReader(specification.library, budget)


def _served_operations(plan: Plan, spec: str) -> Sequence[Operation]:
    """The operations of a document that routes serve, compiled as strict for any route."""
    names = {route.operation.name for route in plan.routes if route.operation.spec == spec}
    operations = plan.specifications[spec].operations
    return [operations[name] for name in operations if name in names]


def _examples(
    specification: Specification, operations: Sequence[Operation]
) -> Iterator[DocumentExample]:
    for operation in operations:
        node = specification.node(operation)
        for media_type, media in node.get("requestBody").get("content").items():
            yield from _examples_of(operation, media_type, media)
        responses = node.get("responses")
        for status, response in responses.items():
            described = [pair for pair in response.get("content").items() if is_json(pair[0])]
            if len(described) == 1:  # Modelway compiles one schema for each status
                code = _status(status, {name for name, _ in responses.items()})
                yield from _examples_of(operation, *described[0], status=code)


def _examples_of(
    operation: Operation, media_type: str, media: Node, status: int = 0
) -> Iterator[DocumentExample]:
    schema = media.get("schema")
    if schema.value is None or not is_json(media_type) or operation.websocket:
        return
    values = [example_value(example) for _, example in media.get("examples").items()]
    values += [media.literal("example"), schema.literal("example")]
    examples = schema.literal("examples")
    values += [examples.step(index) for index in range(len(examples.value or ()))]
    for value in values:
        if value.value is not None:
            yield DocumentExample(operation, value, schema, media_type, status)


def _status(name: str, names: set[str]) -> int:
    """A status code for an entry of `responses`, such as `200`, `4XX` or `default`, of which no
    other entry is more specific."""
    if name.isdigit():
        return int(name)
    if name[:1].isdigit():
        candidates = range(int(name[0]) * 100, int(name[0]) * 100 + 100)
        return next(code for code in candidates if str(code) not in names)
    codes = range(200, 600)
    free = (c for c in codes if not {str(c), f"{c // 100}XX"} & names)
    return next(free, 599)


def _compare_example(
    example: DocumentExample,
    specification: Specification,
    reader: OpenapiCoreReader,
    findings: Findings,
) -> None:
    operation, value = example.operation, example.value
    with reading(lambda: place_of(value.source, value.path)):
        modelway, openapi_core = _verdicts(example, specification, reader)
    difference = disagreement(f"this example of {operation.id}", modelway, openapi_core)
    if difference is not None:
        hint = "one of them misreads the document: rewrite it so that both agree"
        findings.note(value.source, value.path, Level.WARNING, "MW421", str(difference), hint)


def _verdicts(
    example: DocumentExample, specification: Specification, reader: OpenapiCoreReader
) -> tuple[Verdict, Verdict]:
    """The verdicts of Modelway and openapi-core."""
    operation, value = example.operation, example.value
    body = _json(value.value)
    if example.status:
        answers = _response_validators(specification, operation)
        modelway = read_response(answers, example.schema, example.status, value.value)
        openapi_core = reader.response(operation, example.status, example.media_type, body)
    else:
        modelway = read_body(operation, example.schema, example.media_type, body)
        openapi_core = reader.body(operation, example.media_type, body)
    return modelway, openapi_core


def _json(value: object) -> bytes:
    """An example as JSON text. Raises NotComparable for one that no body can have."""
    try:
        orjson.dumps(value)
        return json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise NotComparable(f"it is not valid JSON ({error})") from error


def _response_validators(specification: Specification, operation: Operation) -> ResponseValidators:
    try:
        return specification.response_validators(operation)
    except ValueError as error:
        raise NotComparable(f"the schema of a response cannot be compiled ({error})") from error


def _note_end(example: DocumentExample, error: TimeExceeded, findings: Findings) -> None:
    """Note that an example and those after it are not compared."""
    message = f"this example of {example.operation.id}, and those below, are not compared: {error}"
    hint = "simplify its schema, or leave this comparison out: --no-second-opinion"
    source, at = example.value.source, example.value.path
    findings.note(source, at, Level.INFO, "MW215", message, hint)


def _note_failures(
    failures: Sequence[tuple[DocumentExample, NotComparable]], findings: Findings
) -> None:
    example, error = failures[0]
    others = format_count(len(failures) - 1, "more example")
    more = f", and {others}" if len(failures) > 1 else ""
    message = f"this example of {example.operation.id}{more} could not be compared: {error}"
    findings.note(example.value.source, example.value.path, Level.INFO, "MW422", message)


def _body_schema(operation: Node, media_type: str) -> Node | None:
    """The schema of a JSON body of this media type; None if its bodies are not compared."""
    content = operation.get("requestBody").get("content")
    schemas = {essence(name): media.get("schema") for name, media in content.items()}
    schema = schemas.get(media_type)
    if schema is None or schema.value is None or not is_json(media_type):
        return None
    return schema


def _is_json_text(body: bytes) -> bool:
    """Whether a body is valid JSON (RFC 8259) for both readers, or empty."""
    try:
        orjson.loads(body or b"null")
    except orjson.JSONDecodeError:
        return False
    return True
