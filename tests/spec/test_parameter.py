"""Parameters of operations as they are compiled. Requests with them are in test_operation.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.spec.operation import Operation
from engine.spec.parameter import accepts_parameters, check_parameters
from engine.values.errors import GatewayError
from tests.support.documents import causes, document, exchange, get, operations, read, warning_codes
from tests.support.each import each
from tests.support.swagger import refusal_of_parameters


def test_a_path_parameter_absent_from_the_template_is_a_problem(tmp_path: Path) -> None:
    declared = {"name": "y", "in": "path", "required": True, "schema": {}}
    value = document(paths={"/{x}": {"get": get(parameters=[declared])}})
    assert warning_codes(tmp_path, value) == ["MW207"]


def test_a_style_that_a_place_does_not_have_is_a_problem(tmp_path: Path) -> None:
    declared = {"name": "q", "in": "query", "style": "matrix", "schema": {}}
    assert warning_codes(tmp_path, document(paths={"/x": {"get": get(parameters=[declared])}})) == [
        "MW204"
    ]


def test_a_parameter_in_another_file_without_a_name_is_placed_there(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("p: {in: query, schema: {type: string}}\n")
    value = document(paths={"/x": {"get": get(parameters=[{"$ref": "s.yaml#/p"}])}})
    (problem,) = causes(read(tmp_path, value)[1])
    assert (problem.code, problem.file, problem.line) == ("MW204", "s.yaml", 1)


@each("name", ["Accept-Encoding", "content-length", "Host", "Connection", "Transfer-Encoding"])
def test_a_header_of_the_connection_is_no_parameter(tmp_path: Path, name: str) -> None:
    declared = {"name": name, "in": "header", "required": True, "schema": {"enum": ["of-an-api"]}}
    value = document(paths={"/x": {"get": get("x", parameters=[declared])}})
    assert operations(tmp_path, value)["x"].parameters == ()


TEXT = {"type": "string"}
SORT = {"type": "object", "properties": {"created": {"enum": ["asc", "desc"]}}}
RANGE = {"type": "object", "properties": {"gt": TEXT}, "additionalProperties": False}
ADDRESS = {"type": "object", "properties": {"city": {"type": "object"}, "street": TEXT}}
OF_LOB = [
    {"name": "created", "in": "query", "schema": RANGE, "style": "deepObject"},
    {"name": "sort_by", "in": "query", "schema": SORT},
]
"""Both read `created`: one with brackets, one without."""
OF_A_PROPERTY = [
    {"name": "city", "in": "query", "schema": TEXT},
    {"name": "address", "in": "query", "schema": ADDRESS},
]


@each(
    ("parameters", "query", "refused"),
    [
        (OF_LOB, "created=asc", ""),
        (OF_LOB, "created%5Bgt%5D=2", ""),
        (OF_LOB, "created%5Bgt%5D=2&created=desc", ""),
        (OF_LOB, "created=up", "sort_by.created"),
        (OF_LOB, "created%5Blt%5D=2", "created.lt"),
        (OF_LOB[:1], "created=asc", "created"),
        (OF_A_PROPERTY, "city=Ulm&street=x", ""),
        (OF_A_PROPERTY[1:], "city=Ulm", "address.city"),
    ],
)
def test_a_name_that_several_parameters_could_read_belongs_to_one(
    tmp_path: Path, parameters: list[Any], query: str, refused: str
) -> None:
    value = document(paths={"/x": {"get": get("x", parameters=parameters)}})
    operation = operations(tmp_path, value)["x"]
    request = exchange(method="GET", query=query)
    assert accepts_parameters(operation.parameters, request) is not bool(refused)
    if not refused:
        check_parameters(operation.parameters, request)
        return
    with pytest.raises(GatewayError) as excinfo:
        check_parameters(operation.parameters, request)
    assert excinfo.value.param == refused


FORM = "application/x-www-form-urlencoded"
SCHEMA = {
    "type": "object",
    "required": ["n"],
    "properties": {"n": {"type": "integer"}, "s": {"type": "string"}},
    "additionalProperties": False,
}


def item(content: Any, **more: Any) -> dict[str, Any]:
    parameter = {"name": "all", "in": "querystring", "content": content, **more}
    return {"/a": {"get": get(parameters=[parameter])}}


def operation(folder: Path, media_type: str, **more: Any) -> Operation:
    paths = item({media_type: {"schema": SCHEMA}}, **more)
    (result,) = operations(folder, document(version="3.2.0", paths=paths)).values()
    return result


@each(
    ("media_type", "query", "words"),
    [
        (FORM, "n=1&s=a+b%26", ""),
        (FORM, "n=x", "all.n"),
        (FORM, "n=1&z=1", "all.z"),
        (FORM, "s=1", "all.n"),
        (FORM, "", ""),
        ("application/json", "%7B%22n%22%3A1%7D", ""),
        ("application/json", "%7B%22n%22%3A%22x%22%7D", "all.n"),
        ("application/json", "n=1", "not valid JSON"),
        (FORM, "n=%zz", "two hex digits"),
    ],
)
def test_the_query_string_is_content(
    tmp_path: Path, media_type: str, query: str, words: str
) -> None:
    message = refusal_of_parameters(operation(tmp_path, media_type), query=query)
    assert words in message
    assert (message == "") is (words == "")


def test_it_may_be_required(tmp_path: Path) -> None:
    of = operation(tmp_path, FORM, required=True)
    assert "all" in refusal_of_parameters(of, query="")


def test_it_may_be_text(tmp_path: Path) -> None:
    content = {"text/plain": {"schema": {"type": "string", "pattern": "^a b$"}}}
    paths = item(content)
    (of,) = operations(tmp_path, document(version="3.2.0", paths=paths)).values()
    assert refusal_of_parameters(of, query="a%20b") == ""
    assert refusal_of_parameters(of, query="a") != ""


def test_it_needs_content(tmp_path: Path) -> None:
    parameter = {"name": "q", "in": "querystring", "schema": {"type": "string"}}
    paths = {"/a": {"get": get(parameters=[parameter])}}
    assert warning_codes(tmp_path, document(version="3.2.0", paths=paths)) == ["MW204"]


@each(
    ("value", "is_accepted"),
    [
        *(("Wed, 21 Oct 2015 07:28:00 GMT", True), ("2015-10-21T07:28:00Z", True)),
        *(("21 Oct 2015", False), ("yesterday", False), ("Wed, 32 Oct 2015 07:28:00 GMT", False)),
    ],
)
def test_a_date_in_a_header_may_be_one_of_http(
    tmp_path: Path, value: str, is_accepted: bool
) -> None:
    schema = {"type": "string", "format": "date-time"}
    declared = {"name": "If-Modified-Since", "in": "header", "schema": schema}
    (parameter,) = operations(
        tmp_path, document(paths={"/x": {"get": get("x", parameters=[declared])}})
    )["x"].parameters
    assert parameter.accepts(value) is is_accepted


@each(
    ("schema", "more", "is_accepted"),
    [
        *(({"type": "integer"}, {}, True), ({"type": "boolean"}, {}, True)),
        ({"type": "integer"}, {"required": True}, False),
        ({"type": "string", "minLength": 1}, {}, False),
    ],
)
def test_an_optional_parameter_of_a_lenient_operation_may_be_empty(
    tmp_path: Path, schema: dict[str, Any], more: dict[str, Any], is_accepted: bool
) -> None:
    declared = {"name": "p", "in": "query", "schema": schema, **more}
    value = document(paths={"/x": {"get": get(parameters=[declared])}})
    specification, _ = read(tmp_path, value)
    assert specification is not None
    strict = specification.operations["x"]
    lenient = specification.recompile(strict, lenient=True, with_names=False)
    for query in ("p=", "p"):
        assert "empty string" in refusal_of_parameters(strict, query=query)
        assert (refusal_of_parameters(lenient, query=query) == "") is is_accepted
