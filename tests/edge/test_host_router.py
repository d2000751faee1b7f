"""The routers of the patterns of hosts."""

from functools import partial
from typing import Any

import falcon.testing
import pytest

from engine.edge.host_router import HostRouter
from engine.edge.path_operations import Resource
from engine.edge.router import Router
from engine.values.client_address import networks

PATTERNS = ("a.example.com", "*.example.com")


def routers(*routes: tuple[str, str], proxies: Any = ()) -> HostRouter:
    """A router of `(host, name)`, all with the path /x; the name stands for the responder."""
    made = HostRouter(PATTERNS, lambda pattern: Router(lambda handler: lambda *_: None), proxies)
    for host, name in routes:
        responder: Any = name
        resource = Resource("GET", name, (), partial(str, responder), operation=name)
        made.add_route("/x", resource, host=host)
    return made


def found(router: HostRouter, host: str, **headers: str) -> str:
    """The name of the route of GET /x at a host; "" for none."""
    environ = falcon.testing.create_environ("/x", headers={"host": host, **headers})
    environ |= {"RAW_URI": "/x", "REMOTE_ADDR": "127.0.0.1"}
    _, _, params, _ = router.find("/x", falcon.Request(environ))
    return params.get("mount", "")


ALL = (("a.example.com", "exact"), ("*.example.com", "wild"), ("", "any"))


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("a.example.com", "exact"),
        ("A.Example.Com:8080", "exact"),
        ("b.example.com", "wild"),
        ("example.com", "any"),
        ("a.b.example.com", "any"),
        ("evil.test", "any"),
    ],
)
def test_the_narrowest_pattern_is_found(host, name):
    assert found(routers(*ALL), host) == name


def test_a_route_is_not_found_at_another_host():
    router = routers(("a.example.com", "exact"))
    assert found(router, "a.example.com") == "exact"
    assert found(router, "b.example.com") == ""


def test_a_resource_without_a_host_is_added_to_all():
    router = routers()
    responder: Any = "page"
    router.add_route("/x", Resource("GET", "page", (), partial(str, responder)))
    assert {found(router, host) for host in ("a.example.com", "b.test")} == {"page"}


@pytest.mark.parametrize(("proxies", "name"), [(networks(["127.0.0.0/8"]), "exact"), ((), "any")])
def test_only_a_trusted_proxy_says_another_host(proxies, name):
    router = routers(*ALL, proxies=proxies)
    assert found(router, "inner.test", **{"x-forwarded-host": "a.example.com"}) == name


def test_a_call_from_inside_reaches_the_route_without_hosts_first():
    router = routers(*ALL)
    for name in ("any", "exact", "wild"):
        candidate = router.candidate(name, "GET", "/x", "")
        assert candidate is not None
        assert candidate.resource.operation == name
    assert router.candidate("none", "GET", "/x", "") is None
