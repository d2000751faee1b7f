"""Rules for headers: shared by routes with equal ones, built when they are needed."""

from __future__ import annotations

from engine import dialects
from engine.upstream.requests.route_headers import RouteHeaders
from tests.support.upstreams import Client, upstream

UPSTREAMS = [upstream(Client(), name=name) for name in ("a", "b")]
OPENAI = dialects.get("openai")


def test_routes_with_equal_rules_share_them() -> None:
    headers = RouteHeaders(UPSTREAMS)
    assert headers.requests(OPENAI, ("x-a",)) is headers.requests(OPENAI, ("x-a",))
    assert headers.requests(OPENAI, ("x-b",)) is not headers.requests(OPENAI, ("x-a",))
    anthropic = dialects.get("anthropic")
    assert headers.responses(OPENAI, ()) is not headers.responses(anthropic, ())


def test_rules_are_built_for_the_upstreams_that_are_asked() -> None:
    rules = RouteHeaders(UPSTREAMS).requests(OPENAI, ())
    assert len(rules) == 0
    assert rules["a"] is rules["a"]
    assert len(rules) == 1
