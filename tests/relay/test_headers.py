"""Which headers pass, on the way out and on the way back."""

import pytest

from engine import dialects
from engine.exchange import environ_key
from engine.relay.headers import ALWAYS_SENT, NEVER_SENT, Forwarded, returned

NONE = frozenset()


def environ(*names):
    return {environ_key(name): f"<{name}>" for name in names}


def test_only_listed_headers_pass_to_an_upstream():
    sent = environ("accept", "content-type", "x-tenant", "user-agent", "x-other", "referer")
    assert Forwarded(["x-tenant"]).pick(sent) == [
        ("accept", "<accept>"),
        ("content-type", "<content-type>"),
        ("x-tenant", "<x-tenant>"),
    ]


@pytest.mark.parametrize("name", ALWAYS_SENT)
def test_some_headers_always_pass(name):
    assert Forwarded([]).pick(environ(name)) == [(name, f"<{name}>")]


@pytest.mark.parametrize("name", sorted(NEVER_SENT))
def test_some_headers_never_pass_even_when_listed(name):
    assert Forwarded([name, name.upper()]).pick(environ(name)) == []


@pytest.mark.parametrize(
    "name",
    ["authorization", "cookie", "x-api-key", "x-goog-api-key", "api-key", "proxy-authorization"],
)
def test_whatever_may_hold_a_token_never_passes(name):
    assert name in NEVER_SENT


@pytest.mark.parametrize("dialect", dialects.names())
def test_no_dialect_lists_what_never_passes(dialect):
    assert not NEVER_SENT.intersection(dialects.get(dialect).request_headers)


def test_names_are_taken_in_any_case_and_once():
    sent = environ("x-tenant", "accept")
    assert Forwarded(["X-Tenant", "x-tenant", "Accept"]).pick(sent) == [
        ("accept", "<accept>"),
        ("x-tenant", "<x-tenant>"),
    ]


def test_an_empty_header_is_not_sent():
    assert Forwarded([]).pick({"HTTP_ACCEPT": ""}) == []


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


def test_what_the_upstream_says_comes_back_as_it_is():
    said = [("content-type", "application/json"), ("x-ratelimit-limit", "5"), ("retry-after", "1")]
    assert returned(said, NONE) == said


def test_a_header_that_stands_twice_comes_back_twice():
    said = [("vary", "a"), ("vary", "b"), ("warning", "x")]
    assert returned(said, NONE) == said


@pytest.mark.parametrize(
    "name",
    [
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "server",
        "date",
        "content-length",
        "alt-svc",
    ],
)
def test_what_belongs_to_one_hop_or_to_us_stays_here(name):
    assert returned([(name, "x"), ("a", "b")], NONE) == [("a", "b")]


def test_what_connection_names_stays_here_wherever_it_stands():
    said = [("x-before", "1"), ("connection", "close, X-Before ,x-after"), ("x-after", "2")]
    assert returned([*said, ("x-kept", "3")], NONE) == [("x-kept", "3")]


def test_two_connection_headers_are_both_heard():
    said = [("connection", "x-a"), ("connection", "x-b"), ("x-a", "1"), ("x-b", "2"), ("x-c", "3")]
    assert returned(said, NONE) == [("x-c", "3")]


def test_hidden_headers_stay_here():
    assert returned([("set-cookie", "a"), ("a", "b")], frozenset({"set-cookie"})) == [("a", "b")]


@pytest.mark.parametrize("name", ["openai", "anthropic", "gemini"])
def test_no_vendor_dialect_hands_out_the_cookies_of_our_account(name):
    assert "set-cookie" in dialects.get(name).hidden_headers


@pytest.mark.parametrize("name", ["x-request-id", "request-id"])
def test_the_request_id_of_the_upstream_comes_back_under_another_name(name):
    assert returned([(name, "up_1")], NONE) == [("x-upstream-request-id", "up_1")]
