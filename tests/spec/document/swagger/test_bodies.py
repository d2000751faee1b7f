"""Request bodies of Swagger 2.0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.each import each
from tests.support.swagger import (
    OPERATION,
    only,
    read_swagger,
    refusal_of,
    refusal_of_parts,
    swagger,
    value_of,
)

URLENCODED, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
BODY = {
    "name": "b",
    "in": "body",
    "required": True,
    "schema": {"type": "object", "required": ["a"]},
}
NUMBER = {"name": "n", "in": "formData", "type": "integer", "required": True}
FILE = {"name": "f", "in": "formData", "type": "file", "required": True}
LIST = {"name": "l", "in": "formData", "type": "array", "items": {"type": "integer"}}


@each(
    ("members", "media_types"),
    [
        ({}, ["application/json"]),
        ({"consumes": ["application/json", "application/merge-patch+json"]}, None),
        ({"consumes": "text/plain"}, ["text/plain"]),
        (
            {"consumes": ["text/xml"], "operation": {"consumes": ["application/json"]}},
            ["application/json"],
        ),
    ],
)
def test_a_body_has_the_media_types_of_consumes(
    tmp_path: Path, members: dict[str, Any], media_types: list[str] | None
) -> None:
    operation = only(tmp_path, swagger(BODY, **members))
    assert operation.bodies.media_types == (media_types or members["consumes"])
    assert operation.bodies.required


def test_each_media_type_has_the_schema(tmp_path: Path) -> None:
    consumes = ["application/json", "application/merge-patch+json"]
    operation = only(tmp_path, swagger(BODY, consumes=consumes))
    for media_type in consumes:
        assert refusal_of(operation, {"a": 1}, media_type) == ""
        assert "'a'" in refusal_of(operation, {}, media_type)


@each(
    ("fields", "consumes", "media_types"),
    [
        ([NUMBER], None, [URLENCODED, MULTIPART]),
        ([NUMBER], ["application/json"], [URLENCODED, MULTIPART]),
        ([NUMBER], [URLENCODED, "application/json"], [URLENCODED, "application/json"]),
        ([NUMBER, FILE], None, [MULTIPART]),
        ([NUMBER, FILE], [URLENCODED, "application/json"], [MULTIPART]),
        ([NUMBER], [MULTIPART], [MULTIPART]),
    ],
)
def test_form_fields_are_a_form(
    tmp_path: Path, fields: list[Any], consumes: list[str] | None, media_types: list[str]
) -> None:
    more = {} if consumes is None else {"consumes": consumes}
    assert only(tmp_path, swagger(*fields, **more)).bodies.media_types == media_types


def test_form_fields_are_validated(tmp_path: Path) -> None:
    consumes = [URLENCODED, MULTIPART, "application/json"]
    operation = only(tmp_path, swagger(NUMBER, LIST, consumes=consumes))
    assert value_of(operation, b"n=1&l=1,2", URLENCODED) == {"n": 1, "l": [1, 2]}
    assert refusal_of(operation, b"n=1&l=1%2C2", URLENCODED) == ""
    assert "'n'" in refusal_of(operation, b"l=1", URLENCODED)
    assert refusal_of_parts(operation, ["n", "1"], ["l", "1,2"]) == ""
    assert "l" in refusal_of_parts(operation, ["n", "1"], ["l", "1|2"])
    assert refusal_of(operation, {"n": 1}) == ""
    assert "n" in refusal_of(operation, {"n": "1"})


@each(("name", "separator"), [("ssv", " "), ("tsv", "\t"), ("pipes", "|")])
def test_a_list_in_a_part_has_its_separator(tmp_path: Path, name: str, separator: str) -> None:
    entry = LIST | {"collectionFormat": name, "minItems": 2}
    operation = only(tmp_path, swagger(entry, consumes=[MULTIPART]))
    assert refusal_of_parts(operation, ["l", f"1{separator}2"]) == ""
    assert refusal_of_parts(operation, ["l", "1"]) != ""


def test_a_file_is_required(tmp_path: Path) -> None:
    operation = only(tmp_path, swagger(FILE))
    assert refusal_of_parts(operation, ["f", "\x00", "a.bin", "application/octet-stream"]) == ""
    assert "'f'" in refusal_of_parts(operation, ["g", "x"])


def test_parameters_of_the_document_are_bodies_too(tmp_path: Path) -> None:
    references = [{"$ref": "#/parameters/N"}, {"$ref": "#/parameters/F"}]
    operation = only(tmp_path, swagger(*references, parameters={"N": NUMBER, "F": FILE}))
    assert refusal_of_parts(operation, ["n", "1"], ["f", "x", "a", "text/plain"]) == ""
    assert refusal_of_parts(operation, ["n", "x"], ["f", "x", "a", "text/plain"]) != ""
    operation = only(tmp_path, swagger({"$ref": "#/parameters/B"}, parameters={"B": BODY}))
    assert "'a'" in refusal_of(operation, {})


def test_a_body_of_the_path_is_that_of_each_operation(tmp_path: Path) -> None:
    own = {"name": "mine", "in": "body", "schema": {"type": "array"}}
    item = {
        "parameters": [BODY, {"name": "q", "in": "query", "type": "string"}],
        "post": OPERATION,
        "put": OPERATION | {"operationId": "b"},
        "patch": OPERATION | {"operationId": "c", "parameters": [own]},
    }
    specification, problems = read_swagger(tmp_path, swagger(paths={"/a": item}))
    assert problems == []
    assert specification is not None
    operations = specification.operations
    assert [p.name for p in operations["b"].parameters] == ["q"]
    for name in ("a", "b"):
        assert refusal_of(operations[name], {"a": 1}) == ""
        assert "'a'" in refusal_of(operations[name], {})
    assert refusal_of(operations["c"], []) == ""


def test_a_reference_into_another_operation_follows_what_was_moved(tmp_path: Path) -> None:
    query = {"name": "q", "in": "query", "type": "integer", "maximum": 3}
    first = OPERATION | {"parameters": [BODY, query]}
    at = "#/paths/~1a/post/parameters"
    second = OPERATION | {
        "operationId": "b",
        "parameters": [{"$ref": f"{at}/0"}, {"$ref": f"{at}/1"}],
    }
    items = {"/b": {"post": second}, "/a": {"post": first}}
    specification, problems = read_swagger(tmp_path, swagger(paths=items))
    assert problems == []
    assert specification is not None
    operation = specification.operations["b"]
    assert [p.name for p in operation.parameters] == ["q"]
    assert "'a'" in refusal_of(operation, {})


def test_an_empty_field_is_valid_where_it_is_allowed(tmp_path: Path) -> None:
    entry = NUMBER | {"required": False}
    assert refusal_of(only(tmp_path, swagger(entry)), b"n=", URLENCODED) != ""
    operation = only(tmp_path, swagger(entry | {"allowEmptyValue": True}))
    assert refusal_of(operation, b"n=", URLENCODED) == ""
