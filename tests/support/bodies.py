"""Operations that take a body, and their refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.spec.operation import Operation
from engine.values.errors import GatewayError
from tests.support.documents import ask, document, operations

JSON = "application/json"


FORM = "application/x-www-form-urlencoded"


SCHEMA = {
    "type": "object",
    "required": ["model"],
    "properties": {
        "model": {"type": "string"},
        "n": {"type": "integer"},
        "file": {"type": "string", "format": "binary"},
    },
}


def taking(folder: Path, *media_types: str, required: bool = True, **more: Any) -> Operation:
    content = {name: {"schema": SCHEMA, **more} for name in media_types}
    body = {"required": required, "content": content}
    post = {"operationId": "x", "requestBody": body, "responses": {}}
    return operations(folder, document(paths={"/x": {"post": post}}))["x"]


def body_refusal(operation: Operation, body: Any, media_type: str = JSON) -> GatewayError:
    with pytest.raises(GatewayError) as excinfo:
        ask(operation, body, media_type)
    return excinfo.value
