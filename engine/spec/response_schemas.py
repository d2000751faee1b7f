"""Validation of JSON responses against the document of an operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jsonschema_rs
import orjson

from engine.spec.document.node import Node
from engine.spec.media_types import is_json
from engine.spec.refusal_messages import Refusal, explain
from engine.spec.schemas import Schemas


@dataclass(frozen=True, slots=True)
class ResponseValidators:
    """The validators of JSON responses by status: `200`, `2XX` or `default`."""

    validators: Mapping[str, jsonschema_rs.Validator]

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
        return None if validator.is_valid(value) else explain(validator, value)

    def validator(self, status: int) -> jsonschema_rs.Validator | None:
        """The validator of JSON responses with this status, if the document describes them."""
        for key in (f"{status}", f"{status // 100}XX", "default"):
            if key in self.validators:
                return self.validators[key]
        return None


def compile_responses(operation: Node, schemas: Schemas) -> ResponseValidators:
    """The JSON responses of an operation. Raises ValueError for a broken schema."""
    validators: dict[str, jsonschema_rs.Validator] = {}
    for status, response in operation.get("responses").items():
        for media_type, media in response.get("content").items():
            schema = media.get("schema")
            if is_json(media_type) and schema.value is not None:
                validators[status] = schemas.validator(schema)
    return ResponseValidators(validators)
