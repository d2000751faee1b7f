"""Operations of a document: where they stand, what they take, what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.spec.operation import FIRST_MESSAGE, Operation
from engine.spec.parameter import check_parameters
from engine.values.errors import GatewayError
from tests.support.documents import document, exchange, get, operations, read, warning_codes
from tests.support.each import each

V30, V31 = "3.0.3", "3.1.0"
BOTH = each("version", [V30, V31])


def single_operation(
    folder: Path, operation: Any = None, path: str = "/x", **more: Any
) -> Operation:
    """The only operation of a document."""
    value = document(paths={path: {"get": operation or get()}}, **more)
    (result,) = operations(folder, value).values()
    return result


@BOTH
def test_an_operation_has_its_facts(tmp_path: Path, version: str) -> None:
    result = single_operation(tmp_path, get("a", summary="Does it"), "/a/{id}", version=version)
    assert (result.id, result.method, result.path) == ("api.a", "GET", "/a/{id}")
    assert (result.websocket, result.at) == (
        False,
        ("paths", "/a/{id}", "get"),
    )
    assert result.source.file == "api.yaml"


def test_an_answer_of_101_makes_a_websocket(tmp_path: Path) -> None:
    upgrade = {"101": {"description": "d"}}
    assert single_operation(tmp_path, {"operationId": "x", "responses": upgrade}).websocket
    value = document(paths={"/x": {"post": {"operationId": "x", "responses": upgrade}}})
    assert not operations(tmp_path, value)["x"].websocket


@each(
    ("statuses", "is_http"),
    [
        (["200"], True),
        (["101"], False),
        (["101", "404", "default"], False),
        (["101", "200"], True),
        (["101", "2XX"], True),
    ],
)
def test_a_websocket_with_another_success_is_http_too(tmp_path_factory, statuses, is_http) -> None:
    responses = {status: {"description": "d"} for status in statuses}
    folder = tmp_path_factory.mktemp("spec")
    operation = single_operation(folder, {"operationId": "x", "responses": responses})
    assert operation.is_http is is_http
    more = {"operationId": "x", "responses": responses, FIRST_MESSAGE: True}
    assert single_operation(folder, more).is_http is ("101" not in statuses)


# Where it is mounted.


@each(
    ("servers", "mount"),
    [
        (None, ""),
        ([], ""),
        ([{"url": "/"}], ""),
        ([{"url": "/v1"}], "/v1"),
        ([{"url": "/v1/"}], "/v1"),
        ([{"url": "https://api.example.com"}], ""),
        ([{"url": "https://api.example.com/v1"}], "/v1"),
        ([{"url": "https://api.example.com/a/b/?x=y#z"}], "/a/b"),
        ([{"url": "//api.example.com/v1"}], "/v1"),
        ([{"url": "/v1"}, {"url": "/v2"}], "/v1"),
        (
            [
                {
                    "url": "https://{host}/{base}/{version}",
                    "variables": {
                        "host": {"default": "h"},
                        "base": {"default": "a/b"},
                        "version": {"default": "v2", "enum": ["v1", "v2"]},
                    },
                }
            ],
            "/a/b/v2",
        ),
        ([{"url": "/{v}", "variables": {"v": {"default": "1"}}}], "/1"),
        ([{"url": "v1"}], "/v1"),
    ],
)
def test_the_path_of_the_server_is_the_prefix(tmp_path: Path, servers: Any, mount: str) -> None:
    more = {} if servers is None else {"servers": servers}
    assert single_operation(tmp_path, **more).mounts == (mount,)


def test_servers_of_an_operation_override_those_of_its_path(tmp_path: Path) -> None:
    url = [{"url": "/document"}]
    item = {
        "servers": [{"url": "/path"}],
        "get": get("a", servers=[{"url": "/own"}]),
        "put": get("b"),
    }
    result = operations(
        tmp_path, document(servers=url, paths={"/x": item, "/y": {"get": get("c")}})
    )
    assert [result[name].mounts for name in "abc"] == [("/own",), ("/path",), ("/document",)]


# Parameters.


def refusal(operation: Operation, **request: Any) -> GatewayError:
    with pytest.raises(GatewayError) as excinfo:
        check_parameters(operation.parameters, exchange(method="GET", **request))
    return excinfo.value


@BOTH
@each(
    ("parameter", "request_", "param", "code"),
    [
        ({"in": "query", "name": "q", "required": True}, {}, "q", "missing_required_parameter"),
        ({"in": "query", "name": "q"}, {"query": "q=x"}, "q", "invalid_type"),
        (
            {"in": "header", "name": "X-Q", "required": True},
            {},
            "X-Q",
            "missing_required_parameter",
        ),
        ({"in": "header", "name": "X-Q"}, {"headers": {"x-q": "x"}}, "X-Q", "invalid_type"),
        ({"in": "cookie", "name": "q", "required": True}, {}, "q", "missing_required_parameter"),
        ({"in": "cookie", "name": "q"}, {"headers": {"cookie": "a=b; q=x"}}, "q", "invalid_type"),
        ({"in": "query", "name": "q"}, {"query": "q=%"}, "q", "invalid_value"),
        ({"in": "query", "name": "q"}, {"query": "q=%ff"}, "q", "invalid_value"),
    ],
)
def test_a_parameter_is_refused_by_its_name(
    tmp_path: Path, version: str, parameter: Any, request_: Any, param: str, code: str
) -> None:
    declared = {**parameter, "schema": {"type": "integer"}}
    result = single_operation(tmp_path, get(parameters=[declared]), version=version)
    error = refusal(result, **request_)
    assert (error.status, error.param, error.code) == (400, param, code)
    assert param in error.message


@each(
    "request_",
    [
        {"query": "q=5", "headers": {"x-h": "6", "cookie": "c=7"}},
        {"query": "%71=5&other=x", "headers": {"x-h": " 6 ", "cookie": "a=b; c=7"}},
        {},
    ],
)
def test_parameters_that_are_right_pass(tmp_path: Path, request_: Any) -> None:
    places = [("q", "query"), ("X-H", "header"), ("c", "cookie")]
    declared = [{"name": n, "in": p, "schema": {"type": "integer"}} for n, p in places]
    operation = single_operation(tmp_path, get(parameters=declared))
    check_parameters(operation.parameters, exchange(method="GET", **request_))


def test_a_path_parameter_is_read_from_its_span(tmp_path: Path) -> None:
    declared = {"name": "file-id", "in": "path", "required": True, "schema": {"type": "integer"}}
    result = single_operation(tmp_path, get(parameters=[declared]), "/f/{file-id}")
    check_parameters(result.parameters, exchange(path="/f/5", variables={"file-id": (3, 4)}))
    error = refusal(result, path="/f/x", variables={"file-id": (3, 4)})
    assert (error.param, error.code) == ("file-id", "invalid_type")


def test_the_place_within_a_parameter_is_named(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    declared = {"name": "filter", "in": "query", "style": "deepObject", "schema": schema}
    result = single_operation(tmp_path, get(parameters=[declared]))
    assert refusal(result, query="filter[a]=x").param == "filter.a"


def test_a_parameter_may_hold_json(tmp_path: Path) -> None:
    content = {"application/json": {"schema": {"required": ["a"]}}}
    result = single_operation(
        tmp_path, get(parameters=[{"name": "q", "in": "query", "content": content}])
    )
    check_parameters(result.parameters, exchange(query="q=%7B%22a%22:1%7D"))
    assert refusal(result, query="q=%7B%7D").param == "q.a"
    assert refusal(result, query="q=%7B").param == "q"


def test_an_operation_overrides_the_parameters_of_its_path(tmp_path: Path) -> None:
    item = {
        "parameters": [
            {"name": "q", "in": "query", "required": True, "schema": {"type": "integer"}},
            {"name": "r", "in": "query", "required": True, "schema": {"type": "integer"}},
        ],
        "get": get(parameters=[{"name": "q", "in": "query", "schema": {"type": "string"}}]),
        "put": get("y"),
    }
    result = operations(tmp_path, document(paths={"/x": item}))
    check_parameters(result["x"].parameters, exchange(query="q=text&r=5"))
    check_parameters(result["x"].parameters, exchange(query="r=5"))
    assert refusal(result["x"], query="q=text").param == "r"
    assert refusal(result["y"], query="q=text&r=5").param == "q"


def test_the_same_name_in_two_places_is_two_parameters(tmp_path: Path) -> None:
    declared = [
        {"name": "q", "in": place, "required": True, "schema": {"type": "integer"}}
        for place in ("query", "cookie")
    ]
    result = single_operation(tmp_path, get(parameters=declared))
    assert len(result.parameters) == 2
    assert refusal(result, query="q=5").param == "q"


@each("name", ["Accept", "content-type", "AUTHORIZATION"])
def test_standard_headers_are_no_parameters(tmp_path: Path, name: str) -> None:
    declared = {"name": name, "in": "header", "required": True, "schema": {"type": "integer"}}
    assert single_operation(tmp_path, get(parameters=[declared])).parameters == ()


def test_an_undeclared_path_variable_takes_any_value(tmp_path: Path) -> None:
    result = single_operation(tmp_path, get(), "/a/{id}")
    check_parameters(result.parameters, exchange(path="/a/%2F", variables={"id": (3, 6)}))


@BOTH
def test_nullable_and_other_keywords_apply_to_parameters(tmp_path: Path, version: str) -> None:
    schema = {"type": "integer", "minimum": 5}
    schema |= {"exclusiveMinimum": True} if version == V30 else {"exclusiveMinimum": 5}
    result = single_operation(
        tmp_path,
        get(parameters=[{"name": "q", "in": "query", "schema": schema}]),
        version=version,
    )
    check_parameters(result.parameters, exchange(query="q=6"))
    assert refusal(result, query="q=5").code == "below_min_value"


@BOTH
def test_a_body_by_reference_is_taken(tmp_path: Path, version: str) -> None:
    post = get(requestBody={"$ref": "#/components/requestBodies/B"})
    body = {"required": True, "content": {"application/json": {"schema": {"required": ["a"]}}}}
    value = document(
        version=version,
        paths={"/x": {"post": post}},
        components={"requestBodies": {"B": body}},
    )
    result = operations(tmp_path, value)["x"]
    assert result.bodies.required
    assert list(result.bodies.rules) == ["application/json"]


# Equal parts of operations are one object.


def test_operations_with_equal_bodies_and_parameters_share_them(tmp_path: Path) -> None:
    chat = {"$ref": "#/components/schemas/Chat"}
    body = {"required": True, "content": {"application/json": {"schema": chat}}}
    version, inline = {"$ref": "#/components/parameters/Version"}, {"type": "object"}
    other = {"a": {"schema": inline}, "text/plain": {}}
    paths = {
        "/a": {"post": get("a", requestBody=body, parameters=[version])},
        "/b": {"post": get("b", requestBody=body, parameters=[version])},
        "/c": {"post": get("c", requestBody={**body, "required": False})},
        "/d": {"post": get("d", requestBody={"content": {"application/json": {}, **other}})},
        "/e": {"get": get("e"), "delete": get("f")},
    }
    parameter = {"name": "v", "in": "query", "schema": {"type": "integer"}}
    components = {"schemas": {"Chat": {"type": "object"}}, "parameters": {"Version": parameter}}
    read = operations(tmp_path, document(paths=paths, components=components))
    assert read["a"].bodies is read["b"].bodies
    assert len({read[name].bodies for name in "abcd"}) == 3
    assert read["e"].bodies is read["f"].bodies
    assert read["a"].parameters[0] is read["b"].parameters[0]
    assert refusal(read["a"], query="v=x").param == refusal(read["b"], query="v=x").param == "v"


# What is wrong, at its place.


LINK = {
    "query": get("q", requestBody={"content": {"application/json": {"schema": {}}}}),
    "additionalOperations": {"LINK": get("link"), "M-SEARCH": get("search"), "x-note": 1},
}


def test_methods_of_3_2_are_operations(tmp_path: Path) -> None:
    paths = {"/a": {"get": get("g"), **LINK}}
    served = operations(tmp_path, document(version="3.2.0", paths=paths))
    assert {name: operation.method for name, operation in served.items()} == {
        "g": "GET",
        "q": "QUERY",
        "link": "LINK",
        "search": "M-SEARCH",
    }
    assert served["link"].at == ("paths", "/a", "additionalOperations", "LINK")


def test_an_operation_without_a_name_has_that_of_its_method(tmp_path: Path) -> None:
    operation = {"responses": {}}
    paths = {"/a": {"additionalOperations": {"LINK": operation}, "query": operation}}
    served = operations(tmp_path, document(version="3.2.0", paths=paths))
    assert list(served) == ["QUERY /a", "LINK /a"]


@each("method", ["Link", "CONNECT", "UP"])
def test_a_method_that_no_request_can_have_is_not_served(tmp_path: Path, method: str) -> None:
    paths = {"/a": {"get": get("g"), "additionalOperations": {method: get("x")}}}
    specification, problems = read(tmp_path, document(version="3.2.0", paths=paths))
    assert specification is not None
    assert list(specification.operations) == ["g"]
    assert [problem.code for problem in problems] == ["MW260"]


def test_two_operations_may_not_have_one_method(tmp_path: Path) -> None:
    paths = {"/a": {"post": get("a"), "additionalOperations": {"POST": get("b")}}}
    assert "MW230" in warning_codes(tmp_path, document(version="3.2.0", paths=paths))


def test_a_cookie_has_no_percent_encoding_in_the_style_of_3_2(tmp_path: Path) -> None:
    schema = {"type": "array", "items": {"type": "string"}}
    entry = {"name": "c", "in": "cookie", "style": "cookie", "schema": schema}
    result = single_operation(tmp_path, get(parameters=[entry]), version="3.2.0")
    (parameter,) = result.parameters
    assert parameter.check("c=a%20b; x=1; c=c,d") == ["a%20b", "c,d"]
    entry |= {"explode": False}
    (parameter,) = single_operation(tmp_path, get(parameters=[entry]), version="3.2.0").parameters
    assert parameter.check("c=a%20b,c") == ["a%20b", "c"]
