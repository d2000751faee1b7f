"""Reading the operations of a document, one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.source.problem import Findings
from engine.spec.operation_reader import OperationReader
from engine.spec.schemas.compiled_schemas import Schemas
from engine.values.errors import GatewayError
from tests.support.documents import RESPONSES, ask, document, get, library, operations, read
from tests.support.each import each

ANY = {"responses": RESPONSES}


@each("method", ["get", "put", "post", "delete", "options", "head", "patch", "trace"])
def test_every_method_is_an_operation(tmp_path: Path, method: str) -> None:
    by_name = operations(tmp_path, document(paths={"/x": {method: get()}}))
    assert by_name["x"].method == method.upper()


def test_other_keys_of_a_path_are_not_operations(tmp_path: Path) -> None:
    item = {
        "summary": "s",
        "description": "d",
        "parameters": [],
        "servers": [],
        "x-y": 1,
        "get": get(),
    }
    assert list(operations(tmp_path, document(paths={"/x": item}))) == ["x"]


def test_an_operation_without_a_name_is_known_by_method_and_path(tmp_path: Path) -> None:
    value = document(paths={"/a/{id}": {"get": {"responses": RESPONSES}}})
    assert list(operations(tmp_path, value)) == ["GET /a/{id}"]


def test_callbacks_and_webhooks_are_no_operations(tmp_path: Path) -> None:
    callback = {"{$request.body#/url}": {"post": get("called")}}
    value = document(
        paths={"/x": {"get": get(callbacks={"done": callback})}},
        webhooks={"ping": {"post": get("pinged")}},
    )
    assert list(operations(tmp_path, value)) == ["x"]


def test_configured_mounts_override_all_servers(tmp_path: Path) -> None:
    value = document(servers=[{"url": "/v1"}], paths={"/x": {"get": get(servers=[{"url": "/o"}])}})
    by_name = operations(tmp_path, value, mounts=("/a", "/b"))
    assert by_name["x"].mounts == ("/a", "/b")


def test_a_name_used_twice_is_a_problem(tmp_path: Path) -> None:
    value = document(paths={"/x": {"get": get()}, "/y": {"post": get()}})
    _, problems = read(tmp_path, value)
    (problem,) = problems
    assert problem.code == "MW206"
    assert "GET /x" in problem.hint


def test_a_schema_that_can_be_expensive_is_a_warning_at_its_place(tmp_path: Path) -> None:
    schemas: dict[str, Any] = {
        f"S{n}": {"anyOf": [{"$ref": f"#/components/schemas/S{n + 1}"}] * 2} for n in range(25)
    }
    schemas["S25"] = {"type": "object", "required": ["a"]}
    media = {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}
    paths = {"/x": {"post": get(requestBody={"content": media})}}
    text = json.dumps(document(paths=paths, components={"schemas": schemas}), indent=1)
    specification, problems = read(tmp_path, text)
    assert specification is not None
    (problem,) = problems
    assert problem.code == "MW216"
    assert '"S0"' in text.splitlines()[problem.line - 1]
    with pytest.raises(GatewayError, match="steps, mostly by the schema '#/components/") as refused:
        ask(specification.operations["x"], {})
    assert refused.value.status == 400


def reader_of(paths: dict[str, Any]) -> OperationReader:
    files = library(document(paths=paths))
    reader = OperationReader("api", files, Schemas(files), ("/v1",), Findings())
    reader.read()
    return reader


def test_operations_have_names_and_mounts() -> None:
    reader = reader_of({"/a": {"get": {"operationId": "a", **ANY}, "post": ANY}})
    assert list(reader.operations) == ["a", "POST /a"]
    assert reader.operations["a"].mounts == ("/v1",)
    assert reader.refusals == {}
    assert reader.findings.problems == []


def test_what_cannot_be_routed_is_refused_with_its_problem() -> None:
    reader = reader_of({"/{": {"get": ANY}, "/b": {"get": ANY}, "x-c": {"get": 1}})
    assert list(reader.operations) == ["GET /b"]
    assert {name: p.code for name, p in reader.refusals.items()} == {"GET /{": "MW205"}


def test_operations_of_one_path_are_noted_as_alternatives() -> None:
    reader = reader_of({"/a/{id}": {"get": ANY}, "/a/{name}": {"get": ANY}})
    assert len(reader.operations) == 2
    assert "MW230" in {problem.code for problem in reader.findings.problems}
