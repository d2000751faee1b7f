"""The trial of documents sees what it is for: operations that are off, and wrong verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.documents import trial as module
from tests.documents.document import Document
from tests.documents.requests import EXAMPLE, INVALID, VALID
from tests.documents.trial import Result, trial
from tests.documents.values import near_misses, values
from tests.support.each import each

ADDRESS = {
    "type": "object",
    "required": ["city", "kind"],
    "properties": {
        "city": {"type": "string", "minLength": 2},
        "kind": {"enum": ["home", "work"]},
        "id": {"type": "string", "readOnly": True},
        "codes": {"type": "array", "items": {"type": "string", "pattern": "^[A-Z]{3}[0-9]$"}},
    },
    "additionalProperties": False,
}
EXAMPLES = {"a": {"value": {"city": "Ulm", "kind": "home"}}, "wrong": {"value": {}}}


def written(folder: Path, version: str = "3.0.3", schema: Any = ADDRESS) -> Path:
    content = {"application/json": {"schema": schema, "examples": EXAMPLES}}
    parameters = [
        {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}},
        {"name": "q", "in": "query", "required": True, "schema": {"type": "string"}},
    ]
    operation = {
        "parameters": parameters,
        "requestBody": {"required": True, "content": content},
        "responses": {"200": {"description": "ok"}},
    }
    paths = {"/people/{id}": {"post": operation}}
    document = {"openapi": version, "info": {"title": "t", "version": "1"}, "paths": paths}
    file = folder / "document.json"
    file.write_text(json.dumps(document))
    return file


def body(file: Path) -> Any:
    _, _, _, operation = next(iter(Document(file).operations()))
    return operation.get("requestBody").get("content").get("application/json").get("schema")


def test_a_document_is_checked_served_and_called(tmp_path: Path) -> None:
    result = trial(written(tmp_path), 5)
    assert (result.failures, result.off, dict(result.not_judged)) == ({}, [], {})
    assert result.sent[VALID] >= 2
    assert result.sent[EXAMPLE] == 1
    assert result.sent[INVALID] >= 5
    assert result.cold > 0
    assert result.megabytes > 10


SWAGGER = {
    "swagger": "2.0",
    "info": {"title": "t", "version": "1"},
    "parameters": {"Id": {"name": "id", "in": "path", "required": True, "type": "integer"}},
    "definitions": {"Address": ADDRESS},
    "paths": {
        "/people/{id}": {
            "parameters": [{"$ref": "#/parameters/Id"}],
            "post": {
                "parameters": [
                    {"name": "b", "in": "body", "schema": {"$ref": "#/definitions/Address"}}
                ],
                "responses": {"200": {"description": "ok"}},
            },
            "put": {
                "parameters": [
                    {"name": "a", "in": "formData", "type": "integer", "required": True},
                    {"name": "b", "in": "formData", "type": "string", "required": True},
                ],
                "responses": {"200": {"description": "ok"}},
            },
        }
    },
}


def test_a_document_of_swagger_2_is_called_too(tmp_path: Path) -> None:
    file = tmp_path / "document.json"
    file.write_text(json.dumps(SWAGGER))
    result = trial(file, 5)
    assert (result.failures, result.off, dict(result.not_judged)) == ({}, [], {})
    assert result.operations == 2
    assert result.sent[VALID] >= 3
    assert result.sent[INVALID] >= 6


def test_a_gateway_that_does_not_start_is_a_failure(tmp_path: Path, monkeypatch: Any) -> None:
    config = module.CONFIG.replace("workers: 1", 'workers: 1, stop_timeout: "never"')
    monkeypatch.setattr(module, "CONFIG", config)
    monkeypatch.setattr(module, "check_document", lambda folder, result: None)
    result = trial(written(tmp_path), 5)
    assert list(result.failures) == ["crash"]


def test_a_gateway_that_judges_otherwise_fails(tmp_path: Path, monkeypatch: Any) -> None:
    file = written(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    served = written(other, schema={"type": "object", "required": ["never"]})
    monkeypatch.setattr(module, "CONFIG", module.CONFIG.replace("{document}", str(served)))
    result: Result = trial(file, 5)
    assert set(result.failures) >= {"refused valid", "refused example"}


def test_operations_without_a_target_and_websockets_are_not_called(tmp_path: Path) -> None:
    file = tmp_path / "document.json"
    called = {"responses": {"200": {"description": "ok"}}}
    socket = {"responses": {"101": {"description": "ok"}}}
    paths = {"/a": {"$ref": "nothing.json"}, "/b": {"get": called}, "/c": {"get": socket}}
    file.write_text(json.dumps({"openapi": "3.1.0", "paths": paths}))
    assert [path for path, *_ in Document(file).calls()] == ["/b"]


@each("version", ["3.0.3", "3.1.0"])
def test_values_match_and_near_misses_often_do_not(version: str, tmp_path: Path) -> None:
    schema = body(written(tmp_path, version))
    found = list(values(schema))
    assert {"city", "kind"} in [set(value) for value in found]
    assert any("codes" in value for value in found)
    assert all(schema.accepts(value) for value in found)
    wrong = [value for value in near_misses(found[-1]) if not schema.accepts(value)]
    assert len(wrong) > 8
