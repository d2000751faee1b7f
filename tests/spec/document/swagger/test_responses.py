"""Responses of Swagger 2.0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.each import each
from tests.support.swagger import read_swagger, swagger

LIST = {"type": "array", "items": {"type": "integer"}}


def content(folder: Path, response: Any, **more: Any) -> Any:
    """The content of the only response after the conversion."""
    value = swagger(operation={"responses": {"200": response}}, **more)
    specification, problems = read_swagger(folder, value)
    assert problems == []
    assert specification is not None
    node = specification.node(specification.operations["a"])
    return node.get("responses").get("200").get("content").value


@each(
    ("produces", "media_types"),
    [
        (None, ["application/json"]),
        (["text/csv"], ["text/csv"]),
        (["application/json", "application/xml"], ["application/json", "application/xml"]),
    ],
)
def test_a_schema_is_that_of_each_media_type(
    tmp_path: Path, produces: Any, media_types: list[str]
) -> None:
    more = {} if produces is None else {"produces": produces}
    described = content(tmp_path, {"description": "d", "schema": LIST}, **more)
    assert list(described) == media_types
    assert described[media_types[0]]["schema"] == LIST
    assert all("schema" in media for media in described.values())


def test_examples_stand_at_their_media_type(tmp_path: Path) -> None:
    response = {"description": "d", "schema": LIST, "examples": {"application/json": [1]}}
    assert content(tmp_path, response) == {"application/json": {"schema": LIST, "example": [1]}}


def test_a_file_is_no_json(tmp_path: Path) -> None:
    response = {"description": "d", "schema": {"type": "file"}}
    described = content(tmp_path, response, produces=["application/json", "image/png"])
    binary = {"type": "string", "format": "binary"}
    assert described == {"application/json": {}, "image/png": {"schema": binary}}


def test_a_response_without_a_schema_has_no_content(tmp_path: Path) -> None:
    assert content(tmp_path, {"description": "d"}) is None


def test_responses_of_the_document_are_validated(tmp_path: Path) -> None:
    responses = {"Ok": {"description": "d", "schema": LIST, "headers": {"X": {"type": "string"}}}}
    value = swagger(
        operation={"responses": {"200": {"$ref": "#/responses/Ok"}}}, responses=responses
    )
    specification, problems = read_swagger(tmp_path, value)
    assert problems == []
    assert specification is not None
    operation = specification.operations["a"]
    validators = specification.response_validators(operation)
    assert operation.response_headers == ("x",)
    assert validators.check(200, b"[1]") is None
    assert validators.check(200, b'["a"]') is not None
