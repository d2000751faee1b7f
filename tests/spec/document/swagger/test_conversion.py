"""Documents of Swagger 2.0: what is served of them, and where their problems are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.spec.document import cache
from engine.spec.document.node import CONVERTED
from engine.spec.document.swagger.conversion import scheme_of
from engine.spec.security import BASIC, BEARER, Carrier
from tests.support.each import each
from tests.support.swagger import OPERATION, only, read_swagger, refusal_of, swagger

BODY = {"name": "b", "in": "body", "schema": {"$ref": "#/definitions/Pet"}}
PET = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
PLACES = """swagger: "2.0"
info: {title: T, version: "1"}
consumes: [application/json]
parameters:
  Body: {name: b, in: body, schema: {type: objec}}
paths:
  /a:
    parameters:
      - {name: h, in: header, type: string, pattern: "(?<"}
      - {name: shared, in: formData, type: string, minLength: -1}
    post:
      operationId: a
      parameters:
        - {name: f, in: formData, type: string, maxLength: -2}
        - {name: q, in: query, type: string, minLength: -3}
      responses: {}
    put:
      operationId: b
      parameters: [{name: b, in: body, schema: {type: strin}}]
      responses: {"200": {description: ok, schema: {type: arra}}}
    patch:
      operationId: c
      parameters: [{$ref: "#/parameters/Body"}]
      responses: {}
definitions:
  Pet: {type: object, required: [a, a]}
"""


def places(text: str, codes: tuple[str, ...], folder: Path) -> list[str]:
    _, problems = read_swagger(folder, text)
    return [f"{p.file}:{p.line}:{p.column}" for p in problems if p.code in codes]


def test_each_problem_stands_at_its_place_in_the_document_as_it_was_written(
    tmp_path: Path,
) -> None:
    lines = PLACES.splitlines()
    expected = ["objec}", "pattern", "-1", "-2", "-3", "strin}", "arra}", "required: [a, a]"]
    found = places(PLACES, ("MW204", "MW221", "MW253"), tmp_path)
    at = [next((i, li.index(w)) for i, li in enumerate(lines, 1) if w in li) for w in expected]
    assert sorted(found) == sorted(f"api.yaml:{line}:{column + 1}" for line, column in at)


@each(
    ("members", "mount"),
    [
        ({}, ""),
        ({"host": "api.example.com"}, ""),
        ({"host": "api.example.com:8080", "basePath": "/v1/"}, "/v1"),
        ({"basePath": "/v2"}, "/v2"),
        ({"basePath": "/"}, ""),
        ({"host": "h", "basePath": "v3", "schemes": ["http"]}, "/v3"),
    ],
)
def test_the_base_path_is_where_operations_are_served(
    tmp_path: Path, members: dict[str, str], mount: str
) -> None:
    assert only(tmp_path, swagger(**members)).mounts == (mount,)


def test_definitions_are_schemas_of_draft_4(tmp_path: Path) -> None:
    pet = {
        "type": "object",
        "discriminator": "kind",
        "properties": {
            "kind": {"type": "string"},
            "size": {"type": "number", "maximum": 5, "exclusiveMaximum": True},
            "note": {"type": "string", "x-nullable": True},
        },
    }
    operation = only(tmp_path, swagger(BODY, definitions={"Pet": pet}))
    assert refusal_of(operation, {"kind": "cat", "size": 4.9, "note": None}) == ""
    assert "size" in refusal_of(operation, {"size": 5})
    assert "kind" in refusal_of(operation, {"kind": None})


@each("version", ["'2.0'", "2.0"])
def test_the_version_may_be_a_number(tmp_path: Path, version: str) -> None:
    specification, problems = read_swagger(
        tmp_path, f"swagger: {version}\ninfo: {{}}\npaths: {{}}\n"
    )
    assert problems == []
    assert specification is not None
    assert specification.library.document.value["openapi"] == CONVERTED


def test_parts_of_other_files_are_converted(tmp_path: Path) -> None:
    parameters: Any = {
        "limit": {"name": "limit", "in": "query", "type": "integer", "maximum": 3},
        "pet": {"name": "pet", "in": "body", "schema": {"$ref": "pets.yaml"}, "required": True},
    }
    item = {"post": OPERATION | {"parameters": [{"$ref": "parts.yaml#/pet"}]}}
    value = swagger(paths={"/a": {"$ref": "item.yaml"}})
    operation = only(tmp_path, value, parts=parameters, pets=PET, item=item)
    assert refusal_of(operation, {"name": "x"}) == ""
    assert "name" in refusal_of(operation, {})
    value = swagger({"$ref": "parts.yaml#/limit"})
    assert [p.name for p in only(tmp_path, value, parts=parameters).parameters] == ["limit"]


def test_an_overlay_addresses_the_document_as_it_was_written(tmp_path: Path) -> None:
    value = swagger(
        {"name": "f", "in": "formData", "type": "string"},
        {"name": "q", "in": "query", "type": "integer"},
    )
    fix = """overlay: 1.0.0
info: {title: F, version: "1"}
actions:
  - target: $.paths['/a'].post.parameters[?@.name=='q']
    update: {maximum: x}
  - target: $.paths['/a'].post.parameters[0]
    update: {minLength: y}
"""
    _, problems = read_swagger(tmp_path, value, "fix", fix=fix)
    found = [f"{p.file}:{p.line}:{p.column}" for p in problems if p.code == "MW204"]
    assert found == ["fix.yaml:5:23", "fix.yaml:7:25"]


def test_a_cached_document_keeps_its_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MIN_SIZE", 0)
    folder = tmp_path / "cache"
    fresh, problems = read_swagger(tmp_path, PLACES, cache=folder)
    assert fresh is not None
    fresh.finish_compiling()
    assert list(folder.glob("*.json"))
    again, cached_problems = read_swagger(tmp_path, PLACES, cache=folder)
    assert again is not None
    assert cached_problems == problems
    library, path = again.library, ("paths", "/a", "post", "requestBody")
    assert library.source(library.root, path).place(path) == (10, 9)


@each(
    ("key", "words"),
    [
        ({"basepath": "/v1"}, "basePath"),
        ({"consume": []}, "consumes"),
        ({"securityDefinition": {}}, "securityDefinitions"),
        ({"definition": {}}, "definitions"),
    ],
)
def test_a_misspelt_key_is_found(tmp_path: Path, key: dict[str, Any], words: str) -> None:
    _, problems = read_swagger(tmp_path, swagger(**key))
    assert [p.code for p in problems] == ["MW234"]
    assert words in problems[0].hint


def test_a_misspelt_key_of_a_parameter_is_found(tmp_path: Path) -> None:
    entry = {"name": "q", "in": "query", "type": "array", "colectionFormat": "pipes"}
    _, problems = read_swagger(tmp_path, swagger(entry))
    assert ["collectionFormat" in p.hint for p in problems] == [True]


@each(
    "broken",
    [
        {"paths": {"/a": {"post": {"parameters": {}, "responses": {}}}}},
        {"paths": {"/a": {"post": {"parameters": ["x", 1, None], "responses": []}}}},
        {"paths": {"/a": {"post": {"parameters": [{"in": "body"}, {"in": "formData"}]}}}},
        {"paths": {"/a": {"post": {"responses": {"200": {"schema": 1, "examples": []}}}}}},
        {"paths": {"/a": {"post": {"parameters": [{"in": "body", "schema": 1}]}}}},
        {"paths": {"/a": {"post": {"parameters": [{"in": "body", "schema": None}]}}}},
        {"paths": {"/a": [], "/b": {"post": 1, "parameters": 1}}},
        {"paths": []},
        {"parameters": [], "responses": 1, "definitions": {"A": 1}},
        {"securityDefinitions": {"a": 1}, "consumes": 1, "produces": {"a": 1}, "schemes": []},
        {"host": 1, "basePath": ["a"], "components": 1, "securityDefinitions": {}},
    ],
)
def test_what_is_not_of_the_standard_is_a_finding(tmp_path: Path, broken: dict[str, Any]) -> None:
    specification, problems = read_swagger(tmp_path, swagger() | broken)
    assert specification is not None or problems != []


OAUTH2 = {"type": "oauth2", "flow": "accessCode", "tokenUrl": "t", "scopes": {}}


@each(
    ("definition", "carriers"),
    [
        ({"type": "basic"}, (BASIC, BEARER)),
        ({"type": "apiKey", "in": "header", "name": "X-Key"}, (Carrier("header", "x-key"),)),
        ({"type": "apiKey", "in": "query", "name": "key"}, (Carrier("query", "key"),)),
        (OAUTH2, (BEARER,)),
    ],
)
def test_a_token_is_where_the_definition_says(
    tmp_path: Path, definition: Any, carriers: tuple[Carrier, ...]
) -> None:
    value = swagger(securityDefinitions={"s": definition}, security=[{"s": []}])
    assert only(tmp_path, value).carriers == carriers


def test_an_unknown_name_is_to_be_defined_where_swagger_has_it(tmp_path: Path) -> None:
    _, problems = read_swagger(tmp_path, swagger(security=[{"s": []}]))
    assert ["securityDefinitions" in p.hint for p in problems if p.code == "MW211"] == [True]


def test_a_flow_has_the_name_of_openapi_3() -> None:
    flow = {"tokenUrl": "t", "scopes": {}}
    assert scheme_of(OAUTH2) == {"type": "oauth2", "flows": {"authorizationCode": flow}}
