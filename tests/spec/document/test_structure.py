"""Parts of documents that cannot be read are removed, with a warning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.documents import document, get, read, warning_codes
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
@each("schema", [{"type": "strin"}, {"minimum": "x"}, {"pattern": "("}])
def test_a_broken_schema_is_a_problem(tmp_path: Path, version: str, schema: Any) -> None:
    body = {"content": {"application/json": {"schema": schema}}}
    declared = [{"name": "q", "in": "query", "schema": schema}]
    value = document(
        version=version,
        paths={"/x": {"post": get(requestBody=body)}, "/y": {"get": get("y", parameters=declared)}},
    )
    assert warning_codes(tmp_path, value) == ["MW204", "MW204"]


@each("pointer", ["/components/schemas/B/items", "/components/schemas/C"])
def test_a_reference_to_a_removed_part_is_removed_as_well(tmp_path: Path, pointer: str) -> None:
    schemas = {
        "A": {"properties": {"readOnly": {"$ref": f"#{pointer}"}}},
        "B": {"items": -1},
        "C": {"$ref": "#/components/schemas/B/items"},
    }
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}
    paths = {"/x": {"post": get("x", requestBody={"content": content})}, "/y": {"get": get("y")}}
    specification, problems = read(tmp_path, document(paths=paths, components={"schemas": schemas}))
    assert specification is not None
    assert [*specification.operations] == ["y"]
    assert {problem.code for problem in problems} == {"MW202", "MW204", "MW209"}


def test_what_a_removed_reference_leaves_is_checked_again(tmp_path: Path) -> None:
    parameters = [{"$ref": "#/components/parameters/P"}]
    paths = {"/x": {"get": get("x", parameters=parameters)}, "/y": {"get": get("y")}}
    components = {"parameters": {"P": {"name": 5, "in": "query"}}}
    specification, problems = read(tmp_path, document(paths=paths, components=components))
    assert specification is not None
    assert [*specification.operations] == ["y"]
    assert {problem.code for problem in problems} == {"MW202", "MW204", "MW209"}
    assert specification.node(specification.operations["y"]).value == get("y")
    path = specification.library.document.get("paths").get("/x").get("get")
    assert path.get("parameters").value == []


HALF = "\ud800"


@each(
    "change",
    [
        {"components": {"schemas": {"A": {"properties": {HALF: {}}}}}},
        {"components": {"schemas": {"A": {"pattern": HALF}}}},
        {"components": {"schemas": {"A": {"type": HALF}}}},
        {"paths": {f"/{HALF}": {"get": get("x")}}},
    ],
)
def test_half_of_a_surrogate_pair_is_an_error_at_its_place(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    specification, problems = read(tmp_path, document(**change))
    assert specification is None
    assert [(problem.code, problem.message) for problem in problems] == [
        ("MW204", "half of a surrogate pair, which is no character")
    ]


def test_half_of_a_surrogate_pair_in_a_description_is_read(tmp_path: Path) -> None:
    paths = {"/x": {"get": get("x", description=HALF)}}
    specification, problems = read(tmp_path, document(paths=paths))
    assert specification is not None
    assert problems == []
