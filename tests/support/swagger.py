"""Documents of Swagger 2.0 and requests to their operations, without a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.exchange.exchange import Exchange
from engine.source.problem import Findings, Problem
from engine.spec.bodies.request_bodies import check
from engine.spec.operation import Operation
from engine.spec.parameter import check_parameters
from engine.spec.spec import Specification, read
from engine.values.errors import GatewayError
from tests.support.documents import RESPONSES, exchange, form_data

OPERATION: dict[str, Any] = {"operationId": "a", "responses": RESPONSES}


def swagger(*parameters: Any, **more: Any) -> dict[str, Any]:
    """A document with one operation, `POST /a`, of these parameters; `operation` adds members to
    it."""
    operation = OPERATION | {"parameters": [*parameters]} | more.pop("operation", {})
    head = {"swagger": "2.0", "info": {"title": "T", "version": "1"}}
    return {**head, "paths": {"/a": {"post": operation}}, **more}


def read_swagger(
    folder: Path, value: Any, *overlays: str, cache: Path | None = None, **files: Any
) -> tuple[Specification | None, list[Problem]]:
    """Write a document (YAML, or a value) with other files, and read it as `api.yaml`."""
    for name, content in {"api": value, **files}.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{name}.yaml").write_text(text)
    findings = Findings()
    paths = [(folder / f"{name}.yaml", f"{name}.yaml") for name in overlays]
    result = read("api", folder / "api.yaml", "api.yaml", (), findings, paths, cache)
    return result, findings.problems


def only(folder: Path, value: Any, **files: Any) -> Operation:
    """The only operation of a document without problems."""
    specification, problems = read_swagger(folder, value, **files)
    assert specification is not None, problems
    assert problems == []
    (operation,) = specification.operations.values()
    return operation


def refusal_of_parameters(operation: Operation, **request: Any) -> str:
    """The message of the refusal of a request's parameters; "" if they are valid."""
    try:
        check_parameters(operation.parameters, exchange(**request))
    except GatewayError as error:
        return error.message
    return ""


def refusal_of(operation: Operation, body: Any, media_type: str = "application/json") -> str:
    """The message of the refusal of a body; "" if it is valid."""
    request = exchange(body, media_type)
    try:
        rule = operation.bodies.parse(request)
        if rule is not None:
            check(rule, request.content.value)
    except GatewayError as error:
        return error.message
    return ""


def refusal_of_parts(operation: Operation, *fields: list[str]) -> str:
    """As `refusal_of`, for a multipart body."""
    return refusal_of(operation, *form_data([*fields]))


def value_of(operation: Operation, body: Any, media_type: str) -> Any:
    """The parsed value of a body."""
    request: Exchange = exchange(body, media_type)
    operation.bodies.parse(request)
    return request.content.value
