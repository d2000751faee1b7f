"""Which headers of an upstream's answer reach the caller."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence

import pytest

from engine import dialects
from engine.relay.response_headers import (
    TABLE,
    Action,
    ResponseHeaders,
    rule,
)
from tests.support.each import each

VENDORS = ["openai", "anthropic", "gemini"]


class Nowhere:
    """Addresses that point nowhere."""

    def rewrite(self, address: str, path: str, mount: str) -> str | None:
        return None

    rewrite_links = rewrite


class Visible(Nowhere):
    """Addresses that show how they were asked for."""

    def rewrite(self, address: str, path: str, mount: str) -> str | None:
        return f"{mount}|{path}|{address}"

    rewrite_links = rewrite


def passed(
    headers: Sequence[tuple[str, str]], dialect: str = "plain", declared: Sequence[str] = ()
) -> list[tuple[str, str]]:
    speaks = dialects.get(dialect)
    allowed = None if speaks.transparent else speaks.response_headers
    return ResponseHeaders(
        Nowhere(), allowed=allowed, hidden=speaks.hidden_headers, declared=declared
    ).pick(headers)


COMMANDS = [
    *("x-accel-redirect", "x-accel-buffering", "x-accel-limit-rate", "x-accel-expires"),
    *("x-accel-charset", "x-sendfile", "x-sendfile-temporary", "x-sendfile2"),
    *("x-lighttpd-send-file", "x-lighttpd-send-tempfile", "x-litespeed-location"),
    *("x-litespeed-cache-control", "x-litespeed-purge", "x-lsadc-backend", "x-reproxy-url"),
    *("x-hiawatha-cache", "x-envoy-immediate-health-check-fail", "x-appengine-blobkey"),
    *("x-middleware-rewrite", "fly-replay", "fly-cache-status", "status", "netlify-vary"),
    *("surrogate-control", "surrogate-key", "edge-control", "cdn-cache-control"),
    *("cloudflare-cdn-cache-control", "cache-tag", "xkey"),
]
OF_OUR_ORIGIN = [
    *("clear-site-data", "refresh", "strict-transport-security", "content-security-policy"),
    *("content-security-policy-report-only", "x-webkit-csp", "permissions-policy"),
    *("public-key-pins", "public-key-pins-report-only", "report-to", "reporting-endpoints"),
    *("nel", "expect-ct", "service-worker-allowed", "sourcemap", "x-sourcemap"),
    *("origin-agent-cluster", "cross-origin-opener-policy", "cross-origin-embedder-policy"),
    *("cross-origin-resource-policy", "accept-ch", "critical-ch", "speculation-rules"),
    *("timing-allow-origin", "x-permitted-cross-domain-policies", "set-login"),
    *("access-control-allow-origin", "access-control-allow-private-network"),
]
OF_A_SERVER = [
    "server",
    "via",
    "x-powered-by",
    "x-aspnet-version",
    "x-aspnetmvc-version",
    "alt-svc",
]
OF_A_HOP = [
    *("connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer"),
    *("transfer-encoding", "upgrade", "http2-settings", "content-length", "date"),
    *("sec-websocket-accept", "sec-websocket-extensions"),
]
OF_A_LOGIN = ["set-cookie", "set-cookie2", "www-authenticate", "authentication-info"]


@each("dialect", ["plain", *VENDORS])
@each("name", [*COMMANDS, *OF_OUR_ORIGIN, *OF_A_SERVER, *OF_A_HOP])
def test_headers_that_command_a_proxy_or_a_browser_never_pass(name: str, dialect: str) -> None:
    headers = [(name, "x"), ("content-type", "text/plain")]
    assert passed(headers, dialect, [name]) == [("content-type", "text/plain")]


@pytest.mark.parametrize("name", OF_A_LOGIN)
def test_a_login_passes_only_where_the_document_of_another_api_declares_it(name: str) -> None:
    assert passed([(name, "x")]) == []
    assert passed([(name, "x")], declared=[name.title()]) == [(name, "x")]


@pytest.mark.parametrize("dialect", VENDORS)
def test_the_cookies_of_our_account_at_a_vendor_never_pass(dialect: str) -> None:
    assert passed([("set-cookie", "x")], dialect, ["Set-Cookie"]) == []


@pytest.mark.parametrize(
    "name",
    ["content-type", "etag", "cache-control", "vary", "content-disposition", "retry-after"],
)
@pytest.mark.parametrize("dialect", ["plain", *VENDORS])
def test_headers_about_the_body_or_retries_pass(name: str, dialect: str) -> None:
    assert passed([(name, "x")], dialect) == [(name, "x")]


@pytest.mark.parametrize("dialect", VENDORS)
@pytest.mark.parametrize("name", ["x-anything", "x-envoy-upstream-service-time", "x-internal-host"])
def test_a_vendors_other_headers_pass_only_if_the_document_declares_them(
    dialect: str, name: str
) -> None:
    assert passed([(name, "1")], dialect) == []
    if rule(name) is None:
        assert passed([(name, "1")], dialect, [name.upper()]) == [(name, "1")]


def test_other_headers_of_other_apis_pass() -> None:
    headers = [("x-anything", "1"), ("vary", "a"), ("vary", "b"), ("x-ratelimit-limit", "5")]
    assert passed(headers) == headers


@pytest.mark.parametrize(
    ("dialect", "name"),
    [
        ("openai", "x-ratelimit-remaining-tokens"),
        ("openai", "openai-processing-ms"),
        ("openai", "apim-request-id"),
        ("anthropic", "anthropic-ratelimit-tokens-remaining"),
        ("anthropic", "anthropic-priority-input-tokens-limit"),
        ("gemini", "x-gemini-service-tier"),
    ],
)
def test_the_vendors_own_limits_and_ids_pass(dialect: str, name: str) -> None:
    assert passed([(name, "1")], dialect) == [(name, "1")]


@pytest.mark.parametrize(
    ("dialect", "name"),
    [
        ("openai", "openai-organization"),
        ("openai", "openai-project"),
        ("anthropic", "anthropic-organization-id"),
    ],
)
def test_headers_that_name_the_gateways_account_never_pass(dialect: str, name: str) -> None:
    assert passed([(name, "1")], dialect, [name]) == []


def test_headers_that_connection_names_are_dropped_in_any_order() -> None:
    headers = [("x-before", "1"), ("connection", "close, X-Before ,x-after"), ("x-after", "2")]
    assert passed([*headers, ("x-kept", "3")]) == [("x-kept", "3")]
    two = [("connection", "x-a"), ("connection", "x-b"), ("x-a", "1"), ("x-b", "2")]
    assert passed(two) == []


@pytest.mark.parametrize("dialect", ["plain", *VENDORS])
@pytest.mark.parametrize("name", ["x-request-id", "request-id"])
def test_the_request_id_of_the_upstream_comes_back_under_another_name(
    name: str, dialect: str
) -> None:
    assert passed([(name, "up_1")], dialect) == [("x-upstream-request-id", "up_1")]


@pytest.mark.parametrize("allowed", [None, ()])
@pytest.mark.parametrize("name", ["location", "content-location", "link"])
def test_addresses_are_rewritten_or_dropped(name: str, allowed: tuple[str, ...] | None) -> None:
    headers = [(name, "/x"), ("etag", "1")]
    result = ResponseHeaders(Visible(), allowed=allowed).pick(headers, "/base/a", "/m")
    assert result == [("etag", "1"), (name, "/m|/base/a|/x")]
    assert ResponseHeaders(Nowhere(), allowed=allowed).pick(headers, "/", "") == [("etag", "1")]


def test_any_number_of_names_takes_bounded_memory() -> None:
    rules = ResponseHeaders(Nowhere(), allowed=())
    tracemalloc.start()
    try:
        for number in range(4_000):
            name = f"x-{number}-" + 10_000 * "x"
            assert rules.pick([(name, "1"), ("etag", "1")]) == [("etag", "1")]
        assert tracemalloc.get_traced_memory()[0] < 20_000_000
    finally:
        tracemalloc.stop()


def test_every_row_has_its_reason_and_no_name_two_rows() -> None:
    assert all(row.reason and row.names for row in TABLE)
    plain = [name for row in TABLE for name in row.names if "*" not in name]
    assert len(plain) == len(set(plain))
    assert {name.lower() for name in plain} == set(plain)
    for row in TABLE:
        for name in row.names:
            assert rule(name.replace("*", "any")) is row, f"{name} is decided by an earlier row"


@pytest.mark.parametrize("name", dialects.names())
def test_no_dialect_passes_a_header_that_the_table_drops(name: str) -> None:
    for pattern in dialects.get(name).response_headers:
        row = rule(pattern.replace("*", "any"))
        assert row is None or row.action is Action.PASS
