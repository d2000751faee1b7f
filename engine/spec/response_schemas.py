"""Validation of JSON responses against the document of an operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from engine.spec.document.node import Node
from engine.spec.media_types import essence, is_json
from engine.spec.refusal_messages import Refusal, explain
from engine.spec.schema_validator import SchemaValidator
from engine.spec.schemas import Schemas
from engine.values.errors import GatewayError

_NO_CONTENT = ("204", "205")


@dataclass(frozen=True, slots=True)
class ResponseValidators:
    """The validators of JSON responses by status: `200`, `2XX` or `default`."""

    validators: Mapping[str, SchemaValidator]

    def describes(self, status: int) -> bool:
        """Whether the document describes the JSON of a response with this status."""
        return self.validator(status) is not None

    def check(self, status: int, body: bytes) -> Refusal | None:
        """The first difference between a body and the document, or None."""
        validator = self.validator(status)
        if validator is None:
            return None
        try:
            value: Any = orjson.loads(body)
        except orjson.JSONDecodeError:
            return Refusal("", "invalid_json", "The response is not valid JSON.")
        try:
            return None if validator.is_valid(value) else explain(validator, value)
        except GatewayError as error:
            return Refusal("", error.code, error.message)

    def validator(self, status: int) -> SchemaValidator | None:
        """The validator of JSON responses with this status, if the document describes them."""
        for key in (f"{status}", f"{status // 100}XX", "default"):
            if key in self.validators:
                return self.validators[key]
        return None


def compile_responses(operation: Node, schemas: Schemas) -> ResponseValidators:
    """The JSON responses of an operation. Raises ValueError for a broken schema."""
    validators: dict[str, SchemaValidator] = {}
    for status, response in operation.get("responses").items():
        for media_type, media in response.get("content").items():
            schema = media.get("schema")
            if is_json(media_type) and schema.value is not None:
                validators[status] = schemas.validator(schema)
    return ResponseValidators(validators)


def edited_schemas(operation: Node) -> tuple[list[Node], bool]:
    """The schemas of the JSON that a transform edits of an operation's successful responses: whole
    bodies and the data of events; and whether there is such JSON of which nothing is known."""
    schemas: list[Node] = []
    responses = operation.get("responses").items()
    successful = [(status, response) for status, response in responses if status.startswith("2")]
    is_open = not successful
    for status, response in successful:
        content = response.get("content")
        is_open = is_open or (not content.value and status not in _NO_CONTENT)
        for media_type, media in content.items():
            is_stream = essence(media_type) == "text/event-stream"
            if is_stream or is_json(media_type):
                schema = _event_schema(media.get("schema")) if is_stream else media.get("schema")
                is_open = is_open or not isinstance(schema.value, dict)
                schemas += [schema] if isinstance(schema.value, dict) else []
    return schemas, is_open


def _event_schema(schema: Node) -> Node:
    """The schema of the data of each event: that of the content, if the stream is a text."""
    schema = schema.resolved()
    is_text = isinstance(schema.value, dict) and schema.value.get("type") == "string"
    return schema.get("contentSchema") if is_text else schema
