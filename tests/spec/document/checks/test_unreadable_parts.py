"""Parts of documents that cannot be read are removed, with a warning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.exchange.exchange import MISSING
from engine.source.problem import Level
from engine.values.errors import GatewayError
from tests.support.documents import ask, document, get, read
from tests.support.each import each

V30, V31 = "3.0.3", "3.1.0"
BOTH = each("version", [V30, V31])


@each(
    "change",
    [
        {"paths": None},
        {"paths": []},
        {"paths": "x"},
        {"paths": {"/x": None}},
        {"paths": {"/x": []}},
        {"paths": {"/x": {"get": None}}},
        {"paths": {"/x": {"get": "x"}}},
        {"paths": {"/x": {"get": get(parameters={})}}},
        {"paths": {"/x": {"get": get(parameters=["x"])}}},
        {"paths": {"/x": {"get": get(parameters=[{}])}}},
        {"paths": {"/x": {"get": get(parameters=[{"name": "q", "in": "nowhere"}])}}},
        {"paths": {"/x": {"get": get(parameters=[{"name": "q", "in": "query", "schema": 5}])}}},
        {"paths": {"/x": {"get": get(requestBody="x")}}},
        {"paths": {"/x": {"get": get(requestBody={"content": []})}}},
        {"paths": {"/x": {"get": get(requestBody={"content": {"application/json": 5}})}}},
        {"paths": {"/x": {"get": get(requestBody={"content": {"a/b": {"schema": 5}}})}}},
        {"paths": {"/x": {"get": get(responses=[])}}},
        {"paths": {"/x": {"get": get(responses={200: {"description": "d"}})}}},
        {"paths": {"/x": {"get": get(security="x")}}},
        {"paths": {"/x": {"get": get(security=["x"])}}},
        {"paths": {"/x": {"get": get(servers=["x"])}}},
        {"paths": {"/x": {"get": get(servers=[{"url": 5, "variables": ["x"]}])}}},
        {"paths": {"/x": {"get": get(servers=[{"url": "/{a}", "variables": {"a": 1}}])}}},
        {"paths": {"/x": {"get": get(5)}}},
        {"components": []},
        {"components": {"schemas": []}},
        {"components": {"securitySchemes": []}},
        {"components": {"schemas": {"A": {"properties": {"a": 5}, "required": 5}}}},
        {"components": {"schemas": {"A": {"format": 5, "nullable": "x", "type": 5}}}},
        {"servers": {}},
        {"servers": [{"url": "http://[broken"}]},
        {"security": {}},
    ],
)
def test_a_document_of_wrong_types_is_read_or_has_problems(tmp_path: Path, change: Any) -> None:
    for version in (V30, V31):
        value = {**document(version=version, paths={"/y": {"get": get("y")}}), **change}
        specification, problems = read(tmp_path, value)
        assert specification is not None or problems


@BOTH
@each("schema", [{"type": "strin"}, {"minimum": "x"}, {"enum": 5}])
def test_a_broken_keyword_is_a_problem_and_the_rest_of_its_schema_counts(
    tmp_path: Path, version: str, schema: Any
) -> None:
    described = {**schema, "maxLength": 2}
    body = {"content": {"application/json": {"schema": described}}}
    declared = [{"name": "q", "in": "query", "schema": described}]
    value = document(
        version=version,
        paths={"/x": {"post": get(requestBody=body)}, "/y": {"get": get("y", parameters=declared)}},
    )
    specification, problems = read(tmp_path, value)
    assert specification is not None
    assert [problem.code for problem in problems] == ["MW204", "MW204"]
    ask(specification.operations["x"], "ab")
    with pytest.raises(GatewayError):
        ask(specification.operations["x"], "abc")


@each("pointer", ["/components/schemas/B/items", "/components/schemas/C"])
def test_a_reference_to_a_removed_part_is_removed_as_well(tmp_path: Path, pointer: str) -> None:
    schemas = {
        "A": {"required": ["a"], "properties": {"a": {"$ref": f"#{pointer}"}}},
        "B": {"items": -1},
        "C": {"$ref": "#/components/schemas/B/items"},
    }
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}
    paths = {"/x": {"post": get("x", requestBody={"content": content})}, "/y": {"get": get("y")}}
    specification, problems = read(tmp_path, document(paths=paths, components={"schemas": schemas}))
    assert specification is not None
    assert [*specification.operations] == ["x", "y"]
    assert {problem.code for problem in problems} == {"MW202", "MW204"}
    with pytest.raises(GatewayError):
        ask(specification.operations["x"], {})


def test_what_a_removed_reference_leaves_is_checked_again(tmp_path: Path) -> None:
    parameters = [{"$ref": "#/components/parameters/P"}]
    paths = {"/x": {"get": get("x", parameters=parameters)}, "/y": {"get": get("y")}}
    components = {"parameters": {"P": {"name": 5, "in": "query"}}}
    specification, problems = read(tmp_path, document(paths=paths, components=components))
    assert specification is not None
    assert [*specification.operations] == ["x", "y"]
    assert {problem.code for problem in problems} == {"MW202", "MW204"}
    assert specification.operations["x"].parameters == ()
    path = specification.library.document.get("paths").get("/x").get("get")
    assert path.get("parameters").value == []


BROKEN = {"$ref": "#/components/schemas/Missing"}
CLOSED = {"properties": ["a"], "additionalProperties": False}


def of_schema(schema: Any) -> Any:
    return {"content": {"application/json": {"schema": schema}}}


def test_names_that_cannot_be_understood_refuse_no_others(tmp_path: Path) -> None:
    paths = {"/x": {"post": get(requestBody=of_schema(CLOSED))}}
    specification, _ = read(tmp_path, document(paths=paths))
    assert specification is not None
    (served,) = specification.operations.values()
    assert ask(served, b'{"a": 5}') == {"a": 5}


ANYTHING = {"content": {"application/json": {"schema": {"type": 5}}}}


@each(
    ("operation", "body"),
    [
        (None, b"\x00"),
        ("x", b"\x00"),
        (get(parameters=[{"name": "q", "in": "query", "schema": BROKEN}]), b""),
        (get(parameters=[BROKEN, {"$ref": "https://example.com/p.yaml"}, None, 5]), b""),
        (get(parameters=None), b""),
        (get(parameters=[{"name": "q", "in": "header", "style": "form"}]), b""),
        (get(requestBody=None), b"\x00"),
        (get(requestBody=BROKEN), b"\x00"),
        (get(requestBody={"content": {}}), b"\x00"),
        (get(requestBody={"content": None}), b"\x00"),
        (get(requestBody={"content": {"application/json": None}}), b"5"),
        (get(requestBody={"content": {"application/json": {"schema": BROKEN}}}), b"5"),
        (get(requestBody={"content": {"application/json": {"schema": None}}}), b"5"),
        (get(requestBody=ANYTHING), b"5"),
        (get(requestBody=of_schema({"not": {"type": 5}})), b"5"),
        (get(requestBody=of_schema({"not": {"allOf": [BROKEN], "type": "integer"}})), b"5"),
        (get(requestBody=of_schema({"not": {"pattern": "("}})), b"5"),
        (get(security=[{"unknown": []}]), b""),
        (get(security="x"), b""),
        (get(responses=None), b""),
        (get(**{"x-policy": {"$ref": "../policies.yaml"}}), b""),
    ],
)
def test_what_cannot_be_understood_is_left_out_and_the_operation_served(
    tmp_path: Path, operation: Any, body: bytes
) -> None:
    for version in (V30, V31):
        value = document(version=version, paths={"/x": {"post": operation}})
        specification, problems = read(tmp_path, value)
        assert specification is not None, problems
        assert specification.refusals == {}
        (served,) = specification.operations.values()
        assert ask(served, body) in (MISSING, 5)
        assert all(problem.level is Level.WARNING for problem in problems)


def test_the_parts_of_other_files_are_checked_as_the_document_is(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text("type: object\nrequired: 5\nproperties: {a: {type: date}}\n")
    content = {"application/json": {"schema": {"$ref": "m.yaml"}}}
    specification, problems = read(
        tmp_path, document(paths={"/x": {"post": get(requestBody={"content": content})}})
    )
    assert specification is not None
    assert [(p.code, p.file, p.line) for p in problems] == [
        ("MW204", "m.yaml", 2),
        ("MW204", "m.yaml", 3),
    ]
    ask(specification.operations["x"], {"a": 1})
    with pytest.raises(GatewayError):
        ask(specification.operations["x"], 5)


HALF = "\ud800"


@each(
    "change",
    [
        {"components": {"schemas": {"A": {"properties": {HALF: {}}}}}},
        {"components": {"schemas": {"A": {"type": HALF}}}},
        {"paths": {f"/{HALF}": {"get": get("x")}}},
    ],
)
def test_half_of_a_surrogate_pair_is_left_out(tmp_path: Path, change: dict[str, Any]) -> None:
    specification, problems = read(tmp_path, document(**change))
    assert specification is not None
    assert [(problem.level, problem.message) for problem in problems] == [
        (Level.WARNING, "half of a surrogate pair, which is not a character")
    ]


def test_half_of_a_surrogate_pair_in_a_description_is_read(tmp_path: Path) -> None:
    paths = {"/x": {"get": get("x", description=HALF)}}
    specification, problems = read(tmp_path, document(paths=paths))
    assert specification is not None
    assert problems == []


def test_a_document_whose_paths_cannot_be_read_says_that_nothing_of_it_is_served(
    tmp_path: Path,
) -> None:
    served, problems = read(tmp_path, document(paths=[1]))
    assert served is None
    (problem,) = [each for each in problems if each.code == "MW204"]
    assert "without it nothing of the document can be served" in problem.message
    assert "left out" not in problem.message
