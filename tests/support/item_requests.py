"""Requests for an operation with parameters and a body, and what its stages do with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.exchange.exchange import Exchange
from engine.exchange.request_body import Body
from engine.source.problem import Findings
from engine.spec.operation import Operation
from engine.spec.spec import read
from engine.stages.validate import checks_of
from engine.values.errors import GatewayError
from tests.support.checking import checked
from tests.support.exchanges import BodySource, new_exchange

_DOCUMENT = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /items/{id}:
    post:
      operationId: make
      parameters:
        - {name: id, in: path, required: true, schema: {type: integer}}
        - {name: page, in: query, schema: {type: integer}}
        - {name: x-n, in: header, schema: {type: integer}}
        - {name: c, in: cookie, schema: {type: integer}}
      requestBody:
        required: true
        content:
          application/json:
            schema: {type: object, required: [name], properties: {name: {type: string}}}
      responses: {}
    get: {operationId: show, responses: {}}
"""


def read_operations(folder: Path) -> dict[str, Operation]:
    """The operations `make` and `show` of a document that is written into `folder`."""
    file = folder / "shop.yaml"
    file.write_text(_DOCUMENT)
    findings = Findings()
    spec = read("shop", file, "shop.yaml", (), findings)
    assert findings.problems == []
    return dict(spec.operations)


def exchange(
    body: bytes = b'{"name": "a"}', path: str = "/items/7", query: str = "", **environ: str
) -> Exchange:
    return new_exchange(
        path=path,
        query=query,
        environ={"CONTENT_TYPE": "application/json", **environ},
        variables={"id": (7, len(path))},
        body_reader=BodySource(lambda limit: Body(body)),
    )


def run(operation: Operation, request: Exchange, mode: str = "strict") -> Exchange:
    return checked(checks_of(operation, mode), request)


def refusal(operation: Operation, request: Exchange, mode: str = "strict") -> GatewayError:
    with pytest.raises(GatewayError) as excinfo:
        run(operation, request, mode)
    return excinfo.value
