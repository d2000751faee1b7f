"""Where a token stands, by the document or by the configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.spec.operation import Operation
from engine.spec.security import BASIC, BEARER, Carrier, is_carrier, read_carriers
from tests.support.documents import causes, document, get, operations, read
from tests.support.each import each

SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "Bearer": {"type": "http", "scheme": "Bearer", "bearerFormat": "JWT"},
    "basic": {"type": "http", "scheme": "Basic"},
    "digest": {"type": "http", "scheme": "digest"},
    "oauth": {"type": "oauth2", "flows": {}},
    "oidc": {"type": "openIdConnect", "openIdConnectUrl": "https://x"},
    "header": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
    "query": {"type": "apiKey", "in": "query", "name": "Key"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "Session"},
    "authorization": {"type": "apiKey", "in": "header", "name": "Authorization"},
    "protocol": {
        "type": "apiKey",
        "in": "header",
        "name": "Sec-WebSocket-Protocol",
        "x-subprotocol": "key.",
    },
    "elsewhere": {"type": "apiKey", "in": "header", "name": "X-Other", "x-subprotocol": "key."},
    "mutual": {"type": "mutualTLS"},
    "odd": {"type": "apiKey", "in": "body", "name": "x"},
    "linked": {"$ref": "#/components/securitySchemes/header"},
}
HEADER, QUERY, COOKIE = (
    Carrier("header", "x-api-key"),
    Carrier("query", "Key"),
    Carrier("cookie", "Session"),
)


def specification(
    folder: Path, requirements: Any = None, every: Any = None
) -> tuple[Operation, list[Any]]:
    operation: dict[str, Any] = {"operationId": "x", "responses": {}}
    if requirements is not None:
        operation["security"] = requirements
    value = document(
        paths={"/x": {"get": operation}},
        components={"securitySchemes": SCHEMES},
        **({"security": every} if every is not None else {}),
    )
    specification, problems = read(folder, value)
    assert specification is not None
    return specification.operations["x"], problems


@each(
    ("security", "carriers"),
    [
        ([{"bearer": []}], [BEARER]),
        ([{"Bearer": []}], [BEARER]),
        ([{"basic": []}], [BASIC, BEARER]),
        ([{"bearer": []}, {"basic": []}], [BEARER, BASIC]),
        ([{"oauth": ["a"]}], [BEARER]),
        ([{"oidc": []}], [BEARER]),
        ([{"authorization": []}], [BEARER]),
        ([{"header": []}], [HEADER]),
        ([{"linked": []}], [HEADER]),
        ([{"query": []}], [QUERY]),
        ([{"cookie": []}], [COOKIE]),
        ([{"protocol": []}], [Carrier("subprotocol", "key.")]),
        ([{"elsewhere": []}], [Carrier("header", "x-other")]),
        ([{"header": []}, {"query": []}, {"bearer": []}], [HEADER, QUERY, BEARER]),
        ([{"header": [], "query": []}], [HEADER, QUERY]),
        ([{"header": []}, {"header": []}], [HEADER]),
        # Nothing is open by accident.
        ([], [BEARER]),
        ([{}], [BEARER]),
        ([{}, {"header": []}], [HEADER]),
    ],
)
def test_the_security_of_an_operation_is_its_carriers(
    tmp_path: Path, security: Any, carriers: list[Carrier]
) -> None:
    for requirements, every in ((security, None), (None, security)):
        operation, problems = specification(tmp_path, requirements, every)
        assert list(operation.carriers) == carriers
        assert problems == []


def test_without_security_a_bearer_token_is_required(tmp_path: Path) -> None:
    operation, problems = specification(tmp_path)
    assert operation.carriers == (BEARER,)
    assert problems == []


def test_an_operation_speaks_before_the_document(tmp_path: Path) -> None:
    assert specification(tmp_path, [{"query": []}], [{"header": []}])[0].carriers == (QUERY,)
    assert specification(tmp_path, [], [{"header": []}])[0].carriers == (BEARER,)


@each("name", ["digest", "mutual", "odd"])
def test_a_scheme_that_is_not_understood_is_a_warning(tmp_path: Path, name: str) -> None:
    operation, problems = specification(tmp_path, [{name: []}])
    assert operation.carriers == (BEARER,)
    assert [(p.level, p.code) for p in problems] == [("warning", "MW212")]


def test_a_scheme_that_is_not_understood_leaves_the_others(tmp_path: Path) -> None:
    operation, _ = specification(tmp_path, [{"digest": []}, {"header": []}])
    assert operation.carriers == (HEADER,)


def test_an_unknown_scheme_is_reported_with_the_similar_name(tmp_path: Path) -> None:
    text = (
        "openapi: 3.1.0\ninfo: {title: T, version: '1'}\n"
        "paths: {/x: {get: {operationId: x, responses: {}, security: [{hedaer: []}]}}}\n"
        "components: {securitySchemes: {header: {type: apiKey, in: header, name: k}}}\n"
    )
    _, problems = read(tmp_path, text)
    (problem,) = causes(problems)
    assert (problem.code, problem.line, problem.column) == ("MW211", 3, 63)
    assert problem.hint == "did you mean 'header'?"


@each(
    ("entries", "carriers"),
    [
        ([], ()),
        (["bearer"], (BEARER,)),
        ([{"subprotocol": "key."}], (Carrier("subprotocol", "key."),)),
        (
            [{"header": "x-key"}, {"query": "key"}, {"cookie": "session"}, "bearer"],
            (
                Carrier("header", "x-key"),
                Carrier("query", "key"),
                Carrier("cookie", "session"),
                BEARER,
            ),
        ),
    ],
)
def test_the_configuration_names_carriers(entries: list[Any], carriers: Any) -> None:
    assert read_carriers(entries) == carriers


def test_the_authorization_header_holds_a_bearer_token_by_the_configuration_too() -> None:
    assert read_carriers([{"header": "Authorization"}]) == (BEARER,)


def test_a_requirement_may_be_the_uri_of_a_scheme(tmp_path: Path) -> None:
    schemes = {"k": {"type": "apiKey", "in": "header", "name": "X-Key", "deprecated": True}}
    value = document(
        version="3.2.0",
        paths={"/a": {"get": get(security=[{"#/components/securitySchemes/k": []}])}},
        components={"securitySchemes": schemes},
    )
    (operation,) = operations(tmp_path, value).values()
    assert operation.carriers == (Carrier("header", "x-key"),)


@each(
    ("location", "name", "is_token"),
    [
        ("header", "X-API-Key", True),
        ("query", "Key", True),
        ("query", "key", False),
        ("query", "x-api-key", False),
        ("cookie", "Key", False),
    ],
)
def test_a_parameter_with_a_token_is_one_of_its_place_and_name(
    location: str, name: str, is_token: bool
) -> None:
    assert is_carrier([HEADER, QUERY, COOKIE], location, name) is is_token
