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
