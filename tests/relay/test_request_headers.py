"""Which request headers pass to an upstream."""

import pytest

from engine import dialects
from engine.exchange.environ_headers import environ_key
from engine.relay.request_headers import ALWAYS_SENT, NEVER_SENT, RequestHeaders


def environ(*names):
    return {environ_key(name): f"<{name}>" for name in names}


def test_only_listed_headers_pass_to_an_upstream():
    sent = environ("accept", "content-type", "x-tenant", "user-agent", "x-other", "referer")
    assert RequestHeaders(["x-tenant"]).pick(sent) == [
        ("accept", "<accept>"),
        ("content-type", "<content-type>"),
        ("x-tenant", "<x-tenant>"),
    ]


@pytest.mark.parametrize("name", ALWAYS_SENT)
def test_some_headers_always_pass(name):
    assert RequestHeaders([]).pick(environ(name)) == [(name, f"<{name}>")]


@pytest.mark.parametrize("name", sorted(NEVER_SENT))
def test_some_headers_never_pass_even_when_listed(name):
    assert RequestHeaders([name, name.upper()]).pick(environ(name)) == []


@pytest.mark.parametrize(
    "name",
    ["authorization", "cookie", "x-api-key", "x-goog-api-key", "api-key", "proxy-authorization"],
)
def test_headers_that_may_hold_a_token_never_pass(name):
    assert name in NEVER_SENT


@pytest.mark.parametrize("dialect", dialects.names())
def test_no_dialect_lists_a_header_that_never_passes(dialect):
    assert not NEVER_SENT.intersection(dialects.get(dialect).request_headers)


def test_names_are_taken_in_any_case_and_once():
    sent = environ("x-tenant", "accept")
    assert RequestHeaders(["X-Tenant", "x-tenant", "Accept"]).pick(sent) == [
        ("accept", "<accept>"),
        ("x-tenant", "<x-tenant>"),
    ]


def test_an_empty_header_is_not_sent():
    assert RequestHeaders([]).pick({"HTTP_ACCEPT": ""}) == []


@pytest.mark.parametrize(
    ("header", "key"),
    [
        ("x-api-key", "HTTP_X_API_KEY"),
        ("Content-Type", "CONTENT_TYPE"),
        ("content-length", "CONTENT_LENGTH"),
        ("Content-Language", "HTTP_CONTENT_LANGUAGE"),
    ],
)
def test_headers_have_their_name_in_the_environ(header, key):
    assert environ_key(header) == key
