"""Members of a body that repeat a variable of the path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.values.errors import GatewayError
from tests.support.documents import ask, causes, document, get, read
from tests.support.each import each

THING = {"type": "object", "required": ["model"], "properties": {"model": {}}}
SCHEMA = {"$ref": "#/components/schemas/Thing"}
BODY = {"$ref": "#/components/requestBodies/Thing"}


def body(schema: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


@each(
    ("path", "schema", "codes"),
    [
        ("/{model}:run", THING, ["MW229"]),
        ("/{other}:run", THING, []),
        ("/{model}:run", {**THING, "required": []}, []),
    ],
)
def test_the_member_may_be_omitted(
    tmp_path: Path, path: str, schema: Any, codes: list[str]
) -> None:
    specification, problems = read(
        tmp_path, document(paths={path: {"post": get(requestBody=body(schema))}})
    )
    assert specification is not None
    assert [problem.code for problem in causes(problems)] == codes
    if codes:
        assert ask(specification.operations["x"], {}) == {}


@each("request_body", [body(SCHEMA), BODY, body({"$ref": "things.json#/Thing"})])
def test_another_operation_that_refers_to_the_schema_still_requires_it(
    tmp_path: Path, request_body: Any
) -> None:
    (tmp_path / "things.json").write_text(json.dumps({"Thing": THING}))
    paths = {
        "/things/{model}": {"put": get("change", requestBody=request_body)},
        "/things": {"post": get("create", requestBody=request_body)},
    }
    components = {"schemas": {"Thing": THING}, "requestBodies": {"Thing": body(SCHEMA)}}
    specification, problems = read(tmp_path, document(paths=paths, components=components))
    assert specification is not None
    assert [problem.code for problem in problems] == ["MW229"]
    assert ask(specification.operations["change"], {}) == {}
    with pytest.raises(GatewayError, match="model"):
        ask(specification.operations["create"], {})


ALIAS = """
openapi: 3.0.3
info: {title: T, version: "1"}
paths:
  /things/{model}:
    put:
      operationId: change
      requestBody: &body {content: {application/json: {schema: SCHEMA}}}
      responses: {"200": {description: ok}}
  /things: {post: {operationId: create, requestBody: *body, responses: {"200": {description: ok}}}}
"""


def test_another_operation_whose_body_is_an_alias_still_requires_it(tmp_path: Path) -> None:
    specification, _ = read(tmp_path, ALIAS.replace("SCHEMA", json.dumps(THING)))
    assert specification is not None
    assert ask(specification.operations["change"], {}) == {}
    with pytest.raises(GatewayError, match="model"):
        ask(specification.operations["create"], {})
