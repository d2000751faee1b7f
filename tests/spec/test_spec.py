"""The operations of a document, and those that cannot be served."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.source.problem import Findings
from engine.spec import spec
from engine.spec.document.packed_mappings import Packed
from engine.spec.parameter import check_parameters
from engine.spec.spec import Specification
from engine.values.errors import GatewayError
from tests.support.documents import ask, document, exchange, get, operations, read
from tests.support.each import each
from tests.support.growth import growth

V30, V31 = "3.0.3", "3.1.0"


def test_a_path_may_stand_in_another_file(tmp_path: Path) -> None:
    (tmp_path / "paths").mkdir()
    (tmp_path / "paths" / "x.json").write_text(
        json.dumps({"get": get(parameters=[{"$ref": "../parts.yaml#/P"}])})
    )
    (tmp_path / "parts.yaml").write_text(
        "P: {name: q, in: query, schema: {$ref: '#/S'}}\nS: {type: integer}\n"
    )
    by_name = operations(tmp_path, document(paths={"/x": {"$ref": "paths/x.json"}}))["x"]
    with pytest.raises(GatewayError) as excinfo:
        check_parameters(by_name.parameters, exchange(query="q=a"))
    assert excinfo.value.param == "q"


@each(
    ("paths", "components"),
    [
        ({"/x": {"$ref": "#/paths/~1x"}}, {}),
        (
            {"/x": {"get": get(parameters=[{"$ref": "#/components/parameters/P"}])}},
            {"parameters": {"P": {"$ref": "#/components/parameters/P"}}},
        ),
        (
            {"/x": {"get": get(requestBody={"$ref": "#/components/requestBodies/B"})}},
            {
                "requestBodies": {
                    "B": {"$ref": "#/components/requestBodies/C"},
                    "C": {"$ref": "#/components/requestBodies/B"},
                }
            },
        ),
        (
            {
                "/x": {
                    "post": get(
                        requestBody={
                            "content": {
                                "application/json": {"schema": {"$ref": "#/components/schemas/A"}}
                            }
                        }
                    )
                }
            },
            {"schemas": {"A": {"$ref": "#/components/schemas/A"}}},
        ),
        (
            {
                "/x": {
                    "get": get(
                        parameters=[
                            {
                                "name": "q",
                                "in": "query",
                                "schema": {"$ref": "#/components/schemas/A"},
                            }
                        ]
                    )
                }
            },
            {"schemas": {"A": {"$ref": "#/components/schemas/A"}}},
        ),
        (
            {
                "/x": {
                    "post": get(
                        requestBody={
                            "content": {
                                "application/json": {"schema": {"$ref": "#/components/schemas/A"}}
                            }
                        }
                    )
                }
            },
            {
                "schemas": {
                    "A": {"properties": {"a": {"$ref": "#/components/schemas/B"}}},
                    "B": {"$ref": "#/components/schemas/B"},
                }
            },
        ),
    ],
)
def test_references_that_lead_in_a_circle_are_a_problem(
    tmp_path: Path, paths: Any, components: Any
) -> None:
    for version in (V30, V31):
        _, problems = read(tmp_path, document(version=version, paths=paths, components=components))
        assert "MW202" in {problem.code for problem in problems}


def test_the_node_of_an_operation_is_available(tmp_path: Path) -> None:
    specification, _ = read(tmp_path, document(paths={"/a~b/{c}": {"get": get(summary="s")}}))
    assert isinstance(specification, Specification)
    assert specification.node(specification.operations["x"]).text("summary") == "s"


def test_the_node_of_an_operation_in_another_file_is_available(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(json.dumps({"get": get(summary="s")}))
    specification, _ = read(tmp_path, document(paths={"/x": {"$ref": "x.yaml"}}))
    assert isinstance(specification, Specification)
    assert specification.node(specification.operations["x"]).text("summary") == "s"


@each("depth", [480, 600, 3000])
def test_schemas_that_are_nested_too_deeply_are_a_problem(tmp_path: Path, depth: int) -> None:
    schema = '{"properties": {"a": ' * depth + "{}" + "}}" * depth
    (tmp_path / "a.json").write_text(
        '{"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {},'
        f' "components": {{"schemas": {{"A": {schema}}}}}}}'
    )
    findings = Findings()
    assert spec.read("a", tmp_path / "a.json", "a.json", (), findings) is None
    assert len(findings.errors) == 1


def test_a_schema_is_left_out_from_where_it_is_nested_too_deeply(tmp_path: Path) -> None:
    schema: dict[str, Any] = {}
    for _ in range(200):
        schema = {"type": "object", "properties": {"a": schema}}
    content = {"application/json": {"schema": schema}}
    paths = {"/x": {"post": get(requestBody={"content": content})}, "/y": {"get": get("y")}}
    specification, problems = read(tmp_path, document(paths=paths))
    assert isinstance(specification, Specification)
    assert [*specification.operations] == ["x", "y"]
    assert [problem.code for problem in problems] == ["MW254"]


def test_a_document_that_was_read_is_packed(tmp_path: Path) -> None:
    specification, _ = read(tmp_path, document(paths={"/x": {"get": get()}}))
    assert specification is not None
    assert isinstance(specification.library.document.value["paths"], Packed)


def test_an_operation_is_compiled_again_from_a_packed_document(tmp_path: Path) -> None:
    item = {
        "type": "object",
        "required": ["type", "text"],
        "properties": {"type": {"const": "item"}, "text": {"type": ["string", "null"]}},
    }
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}}
    responses = {"200": {"description": "d", "content": content}}
    post = {"operationId": "x", "requestBody": {"content": content}, "responses": responses}
    value = document(paths={"/x": {"post": post}}, components={"schemas": {"Item": item}})
    specification, _ = read(tmp_path, value)
    assert specification is not None
    strict = specification.operations["x"]
    lenient = specification.recompile(strict, lenient=True, with_names=False)
    request = {"type": "item"}  # in responses `text` may be null, so requests may omit it
    with pytest.raises(GatewayError):
        ask(strict, request)
    ask(lenient, request)


def test_a_reference_to_a_file_that_is_a_list_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text('[{"properties": {"a": {"$ref": "#"}}}]')
    content = {"application/json": {"schema": {"$ref": "list.json#/0"}}}
    paths = {"/x": {"post": get(requestBody={"content": content})}}
    specification, problems = read(tmp_path, document(paths=paths))
    assert specification is not None
    assert [*specification.operations] == ["x"]
    assert [problem.code for problem in problems] == ["MW202"]


def test_operations_share_parameters_that_are_written_alike(tmp_path: Path) -> None:
    def described(name: str, longest: int) -> dict[str, Any]:
        schema = {"type": "string", "maxLength": longest}
        return get(name, parameters=[{"name": "q", "in": "query", "schema": schema}])

    paths = {
        f"/{n}": {"get": described(n, longest)} for n, longest in zip("abc", (5, 5, 6), strict=True)
    }
    specification, _ = read(tmp_path, document(paths=paths))
    assert specification is not None
    a, b, c = (specification.operations[name].parameters[0] for name in "abc")
    assert a is b
    assert a is not c


def test_a_breach_behind_thousands_of_references_is_left_out(tmp_path: Path) -> None:
    schemas: dict[str, Any] = {
        f"S{n}": {"properties": {"a": {"$ref": f"#/components/schemas/S{n + 1}"}}}
        for n in range(3_000)
    }
    schemas["S3000"] = {"$ref": "#/nowhere"}
    media = {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}
    paths = {"/x": {"post": get(requestBody={"content": media})}}
    specification, problems = read(tmp_path, document(paths=paths, components={"schemas": schemas}))
    assert specification is not None
    assert [*specification.operations] == ["x"]
    assert [problem.code for problem in problems] == ["MW202"]


def test_a_document_in_many_files_takes_time_linear_in_their_number(tmp_path: Path) -> None:
    def prepare(size: int) -> Callable[[], object]:
        folder = tmp_path / str(size)
        folder.mkdir()
        paths = {f"/p{n}": {"$ref": f"p{n}.json"} for n in range(size)}
        api = {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": paths}
        (folder / "api.json").write_text(json.dumps(api))
        for n in range(size):
            schema = {"type": "string", "format": "date"}
            body = {"content": {"application/json": {"schema": schema}}}
            operation = {"requestBody": body, "responses": {"200": {"description": "ok"}}}
            (folder / f"p{n}.json").write_text(json.dumps({"post": operation}))
        return lambda: spec.read("x", folder / "api.json", "api.json", (), Findings())

    assert growth(prepare) < 1.2
