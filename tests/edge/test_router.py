"""Operations of one method and path: told apart by the query, the first of equals wins."""

from __future__ import annotations

from functools import partial
from typing import Any

import falcon.testing
import pytest

from engine.edge.path_operations import Resource
from engine.edge.router import Router, raw_target
from engine.values.errors import GatewayError


def router(*resources: tuple[str, str, tuple[tuple[str, str], ...]]) -> Router:
    """A router of `(name, template, query)`; the name stands for the responder."""
    routes = Router(lambda handler: lambda *_: None)
    for name, template, query in resources:
        responder: Any = name
        routes.add_route(template, Resource("GET", name, (), partial(str, responder), query))
    return routes


def name_and_variables(
    routes: Router, target: str
) -> tuple[str, dict[str, tuple[int, int]]] | None:
    """The name of what a target leads to, with its variables; None when nothing does."""
    resource, _, params, _ = found_route(routes, target)
    return (params["mount"], params["variables"]) if isinstance(resource, Resource) else None


def found_route(routes: Router, target: str) -> tuple[Any, Any, dict[str, Any], str]:
    path, _, query = target.partition("?")
    environ = falcon.testing.create_environ(path, query)
    environ["RAW_URI"] = target
    return routes.find(path, falcon.Request(environ))


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
    routes = router(*(reversed(all_of_them) if turned else all_of_them))
    assert name_and_variables(routes, target) == (name, {variable: (3, 5)})


def test_an_operation_with_a_query_is_not_found_without_it() -> None:
    routes = router(("beta", "/a", BETA))
    assert name_and_variables(routes, "/a?beta=true") == ("beta", {})
    assert name_and_variables(routes, "/a") is None


@pytest.mark.parametrize("query", [(), BETA])
def test_the_first_of_two_alike_wins(query: tuple[tuple[str, str], ...]) -> None:
    routes = router(("first", "/a", query), ("second", "/a", query))
    assert name_and_variables(routes, "/a?beta=true") == ("first", {})


@pytest.mark.parametrize("target", ["/a", "/a?b=c", "/nowhere", "/nowhere?b=c", "/a?b=%zz"])
def test_a_request_gets_its_own_path_and_query_after_other_requests(target: str) -> None:
    routes = router(("plain", "/a", ()))
    for earlier in ("/a?b=of-another-caller", "/a", "/nowhere?b=of-another-caller"):
        found_route(routes, earlier)
    _, _, params, _ = found_route(routes, target)
    path, _, query = target.partition("?")
    assert (params["path"], params["query"]) == (path, query)


def test_a_path_that_was_found_before_is_no_way_around_its_query() -> None:
    routes = router(("plain", "/a", ()))
    assert name_and_variables(routes, "/a") == ("plain", {})
    assert name_and_variables(routes, "/a") == ("plain", {})
    assert name_and_variables(routes, "/a?b=%zz") is None
    assert name_and_variables(routes, "/a?b=c") == ("plain", {})


def test_a_path_that_is_written_as_its_template_has_variables() -> None:
    routes = router(("plain", "/a/{p}", ()))
    for _ in range(2):
        assert name_and_variables(routes, "/a/{p}") == ("plain", {"p": (3, 6)})


def test_paths_of_one_responder_differ_only_in_their_parameters() -> None:
    routes = Router(lambda handler: lambda *_: None)
    responder: Any = "shared"
    for name in ("x", "y"):
        resource = Resource("GET", f"/{name}", (), lambda: responder, operation=f"api.{name}")
        routes.add_route(f"/{name}/a", resource)
    for _ in range(2):
        found = [found_route(routes, f"/{name}/a") for name in ("x", "y")]
        (_, first, of_x, _), (_, second, of_y, _) = found
        assert first == {"GET": "shared"}
        assert (of_x["operation"], of_x["mount"], of_x["path"]) == ("api.x", "/x", "/x/a")
        assert (of_y["operation"], of_y["mount"], of_y["path"]) == ("api.y", "/y", "/y/a")
    assert first is second


def test_a_responder_is_made_once_at_the_first_request() -> None:
    made: list[str] = []
    routes = router(("plain", "/a/{p}", ()))
    resource = Resource("GET", "", (), lambda: made.append("x") or print)  # type: ignore[func-returns-value]
    routes.add_route("/b/{p}", resource)
    assert made == []
    for target in ("/b/1", "/b/2"):
        found_route(routes, target)
    assert made == ["x"]


def from_root() -> Router:
    """A router with an operation from the root of the server, and one that is below a mount."""
    routes = Router(lambda handler: lambda *_: None)
    for mount, template in (("/", "/ws/{x}"), ("/v1", "/v1/a")):
        responder: Any = mount
        routes.add_route(template, Resource("GET", mount, (), partial(str, responder)))
    return routes


@pytest.mark.parametrize(
    ("target", "name"),
    [("/ws/b", "/"), ("//ws/b", "/"), ("///ws/b", None), ("/v1/a", "/v1"), ("//v1/a", None)],
)
def test_a_path_from_the_root_may_have_a_second_slash(target: str, name: str | None) -> None:
    match = name_and_variables(from_root(), target)
    assert (match and match[0]) == name
    if match is not None and name == "/":
        assert match[1] == {"x": (4, 5)}


def test_a_path_from_inside_leads_to_its_operation_or_to_none() -> None:
    routes = Router(lambda handler: lambda *_: None)

    def add(template: str, operation: str) -> None:
        make: Any = partial(str, operation)
        routes.add_route(template, Resource("GET", "", (), make, operation=operation))

    def names(operation: str, path: str) -> dict[str, tuple[int, int]] | None:
        candidate = routes.candidate(operation, "GET", path, "")
        return None if candidate is None else dict(candidate.variables)

    add("/a/{x}/b", "first")
    for _ in range(2):
        assert names("first", "/a/xy/b") == {"x": (3, 5)}
        assert names("first", "/a/xy/c") is None
        assert names("second", "/a/xy/b") is None
        assert routes.candidate("first", "POST", "/a/xy/b", "") is None
    with pytest.raises(GatewayError):
        routes.candidate("first", "GET", "/a/%2e%2e/b", "")
    add("/a/c/b", "second")
    for _ in range(2):
        assert names("first", "/a/c/b") is None
        assert names("second", "/a/c/b") == {}
        assert names("first", "/a/d/b") == {"x": (3, 4)}


def test_a_value_without_slashes_may_lead_from_inside_to_another_operation() -> None:
    routes = Router(lambda handler: lambda *_: None)
    for name, slash_variables in (("wide", ("x",)), ("narrow", ())):
        resource = Resource("GET", "", slash_variables, partial(str, name), operation=name)
        routes.add_route("/a/{x}", resource)
    for _ in range(2):
        assert routes.candidate("wide", "GET", "/a/b/c", "") is not None
        assert routes.candidate("wide", "GET", "/a/b", "") is None
        assert routes.candidate("narrow", "GET", "/a/b", "") is not None


@pytest.mark.parametrize(
    ("environ", "target"),
    [
        ({"RAW_URI": "/a%2Fb?c"}, "/a%2Fb?c"),
        ({"RAW_URI": "http://host:1/a?c"}, "/a?c"),
        ({"RAW_URI": "http://host"}, "/"),
        ({"PATH_INFO": "/a"}, "/a"),
        ({}, "/"),
        ({"RAW_URI": "/a?u=http://x/y"}, "/a?u=http://x/y"),
        ({"RAW_URI": "//a"}, "//a"),
    ],
)
def test_the_raw_target_is_without_scheme_and_host(environ, target):
    assert raw_target(environ) == target
