"""Operations of one method and path: told apart by the query, the first of equals wins."""

from __future__ import annotations

from typing import Any

import falcon.testing
import orjson
import pytest

from engine.edge.endpoint import Endpoints
from engine.edge.router import Resource, Router, application
from engine.values.errors import GatewayError


def router(*resources: tuple[str, str, tuple[tuple[str, str], ...]]) -> Router:
    """A router of `(name, template, query)`; the name stands for the responder."""
    made = Router(lambda handler: lambda *_: None)
    for name, template, query in resources:
        responder: Any = name
        made.add_route(template, Resource("GET", name, (), responder, query))
    return made


def found(made: Router, target: str) -> tuple[str, dict[str, tuple[int, int]]] | None:
    """The name of what a target leads to, with its variables; None when nothing does."""
    path, _, query = target.partition("?")
    environ = falcon.testing.create_environ(path, query)
    environ["RAW_URI"] = target
    resource, _, params, _ = made.find(path, falcon.Request(environ))
    return (params["mount"], params["variables"]) if isinstance(resource, Resource) else None


BETA = (("beta", "true"),)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("target", "name", "variable"),
    [
        ("/a/xy", "plain", "p"),
        ("/a/xy?beta=true", "beta", "b"),
        ("/a/xy?c=1&beta=true", "beta", "b"),
        ("/a/xy?beta=true&c=%31&v=2", "both", "c"),
        ("/a/xy?beta=false", "plain", "p"),
        ("/a/xy?v=2", "plain", "p"),
    ],
)
def test_the_query_tells_operations_apart(
    turned: bool, target: str, name: str, variable: str
) -> None:
    all_of_them = [
        ("plain", "/a/{p}", ()),
        ("beta", "/a/{b}", BETA),
        ("both", "/a/{c}", (*BETA, ("v", "2"))),
    ]
    made = router(*(reversed(all_of_them) if turned else all_of_them))
    assert found(made, target) == (name, {variable: (3, 5)})


def test_an_operation_with_a_query_is_not_found_without_it() -> None:
    made = router(("beta", "/a", BETA))
    assert found(made, "/a?beta=true") == ("beta", {})
    assert found(made, "/a") is None


@pytest.mark.parametrize("query", [(), BETA])
def test_the_first_of_two_alike_wins(query: tuple[tuple[str, str], ...]) -> None:
    made = router(("first", "/a", query), ("second", "/a", query))
    assert found(made, "/a?beta=true") == ("first", {})


def test_a_path_that_was_found_before_is_no_way_around_its_query() -> None:
    made = router(("plain", "/a", ()))
    assert found(made, "/a") == ("plain", {})
    assert found(made, "/a") == ("plain", {})
    assert found(made, "/a?b=%zz") is None
    assert found(made, "/a?b=c") == ("plain", {})


def test_the_servers_own_refusals_are_responses_like_others_and_recorded() -> None:
    app, recorded = application(Endpoints(1000, 1.0), []), []
    app.record_refusal = recorded.append
    response = app.refuse(GatewayError(414, "bad_request", "Too long."), "10.0.0.1")
    (exchange,) = recorded
    headers = dict(response.headers)
    assert isinstance(response.body, bytes)
    assert (response.status, headers["content-type"]) == (414, "application/json")
    assert headers["x-request-id"] == exchange.request_id
    assert headers["content-length"] == str(len(response.body))
    assert orjson.loads(response.body)["error"]["code"] == "bad_request"
    assert exchange.environ == {"REMOTE_ADDR": "10.0.0.1"}
    assert (exchange.record.status, exchange.record.code) == (414, "bad_request")
    failure = app.fail()
    assert (failure.status, len(recorded)) == (500, 1)
    assert b"internal_error" in bytes(failure.body)  # type: ignore[arg-type]
