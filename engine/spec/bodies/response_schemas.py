"""Validation of JSON responses, and of the items of sequences, against the document of an
operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import orjson
from msgspec import Struct, field

from engine.spec.bodies.sequences import parse_sequence
from engine.spec.document.node import Node
from engine.spec.schemas.compiled_schemas import Schemas
from engine.spec.schemas.refusal_messages import Refusal, explain, find_refusal
from engine.spec.schemas.schema_validator import SchemaValidator
from engine.values.errors import GatewayError, Malformed
from engine.values.media_types import essence, is_json, sequence_kind

_NO_CONTENT = ("204", "205")


class ItemValidators(NamedTuple):
    """The validators of the items of a sequence, and of the JSON in the `data` of events."""

    item: SchemaValidator
    data: SchemaValidator | None = None


class ResponseValidators(Struct, frozen=True):
    """The validators of JSON responses by status: `200`, `2XX` or `default`. `items` are those of
    the items of sequences, by status and kind of sequence."""

    validators: Mapping[str, SchemaValidator]
    items: Mapping[tuple[str, str], ItemValidators] = field(default_factory=dict)

    def describes(self, status: int) -> bool:
        """Whether the document describes the JSON of a response with this status."""
        return self.validator(status) is not None

    def item_validators(self, status: int, kind: str) -> ItemValidators | None:
        """The validators of the items of a sequence; None if the document does not describe it."""
        for key in _keys(status):
            if (key, kind) in self.items:
                return self.items[key, kind]
        return None

    def check_items(self, status: int, kind: str, body: bytes, *, truncated: bool) -> list[Refusal]:
        """The first difference of each item of a sequence that differs from the document."""
        validators = self.item_validators(status, kind)
        if validators is None:
            return []
        try:
            items = parse_sequence(kind, body, truncated=truncated)
        except Malformed as error:
            return [Refusal("", "invalid_json", f"The response cannot be read: {error}.")]
        refusals = [_difference(validators, item) for item in items]
        return [refusal for refusal in refusals if refusal is not None]

    def check(self, status: int, body: bytes) -> Refusal | None:
        """The first difference between a body and the document, or None."""
        validator = self.validator(status)
        if validator is None:
            return None
        try:
            value: object = orjson.loads(body)
        except orjson.JSONDecodeError:
            return Refusal("", "invalid_json", "The response is not valid JSON.")
        try:
            return find_refusal(validator, value)
        except GatewayError as error:
            return Refusal("", error.code, error.message)

    def validator(self, status: int) -> SchemaValidator | None:
        """The validator of JSON responses with this status, if the document describes them."""
        for key in _keys(status):
            if key in self.validators:
                return self.validators[key]
        return None


def _keys(status: int) -> tuple[str, ...]:
    return f"{status}", f"{status // 100}XX", "default"


def _difference(validators: ItemValidators, item: object) -> Refusal | None:
    """The first difference of an item, or of the JSON in its data."""
    try:
        if not validators.item.is_valid(item):
            return explain(validators.item, item)
        if validators.data is None or not isinstance(item, dict):
            return None
        value = orjson.loads(item["data"])
        return None if validators.data.is_valid(value) else explain(validators.data, value, "data")
    except orjson.JSONDecodeError:
        return Refusal("data", "invalid_json", "The data of the event is not valid JSON.")
    except GatewayError as error:
        return Refusal("", error.code, error.message)


def compile_responses(operation: Node, schemas: Schemas) -> ResponseValidators:
    """The responses of an operation. Raises ValueError for a broken schema."""
    validators: dict[str, SchemaValidator] = {}
    items: dict[tuple[str, str], ItemValidators] = {}
    for status, response in operation.get("responses").items():
        for media_type, media in response.get("content").items():
            schema = media.get("schema")
            if is_json(media_type) and schema.value is not None:
                validators[status] = schemas.validator(schema)
            item, kind = media.get("itemSchema"), sequence_kind(essence(media_type))
            if item.value is not None and kind not in ("", "parts"):
                items[status, kind] = _item_validators(item, kind, schemas)
    return ResponseValidators(validators, items)


def _item_validators(item: Node, kind: str, schemas: Schemas) -> ItemValidators:
    data = _data_schema(item) if kind == "events" else None
    is_described = data is not None and isinstance(data.value, dict)
    return ItemValidators(
        schemas.validator(item), schemas.validator(data) if data and is_described else None
    )


def _data_schema(item: Node) -> Node:
    """The schema of the JSON in the data of each event; its value is None if there is none."""
    data = item.resolved().get("properties").get("data")
    return data.get("contentSchema")


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
                schema = _event_schema(media) if is_stream else media.get("schema")
                is_open = is_open or not isinstance(schema.value, dict)
                schemas += [schema] if isinstance(schema.value, dict) else []
    return schemas, is_open


def _event_schema(media: Node) -> Node:
    """The schema of the data of each event: that of the content, if the stream is a text."""
    if media.has("itemSchema"):
        return _data_schema(media.get("itemSchema"))
    schema = media.get("schema")
    is_text = isinstance(schema.value, dict) and schema.value.get("type") == "string"
    return schema.get("contentSchema") if is_text else schema
