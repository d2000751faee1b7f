"""What sending to an upstream needs."""

from __future__ import annotations

from typing import Any

import pytest

from engine.config import model
from engine.config.model import Credential, Tls
from engine.upstream.target import connect
from tests.support.upstreams import Client, upstream


@pytest.mark.parametrize(
    ("credential", "raw", "query"),
    [
        (None, "a=b", "a=b"),
        (None, "", ""),
        (Credential("header", "x-key", "s"), "a=b", "a=b"),
        (Credential("query", "key", "s"), "", "key=s"),
        (Credential("query", "key", "s"), "a=%20b&c", "a=%20b&c&key=s"),
        (Credential("query", "k y", "s&=/ é"), "", "k%20y=s%26%3D%2F%20%C3%A9"),
    ],
)
def test_a_credential_may_travel_in_the_query(
    credential: Credential | None, raw: str, query: str
) -> None:
    assert upstream(Client(), credential=credential).query(raw) == query


def test_a_credential_does_not_show_its_secret() -> None:
    assert "s3cret" not in repr(upstream(Client(), credential=Credential("header", "k", "s3cret")))


def test_its_headers_are_those_of_the_dialect_and_its_own() -> None:
    made = upstream(Client(), forward_headers=("X-Own",)).headers(("x-dialect",))
    environ = {"HTTP_X_OWN": "1", "HTTP_X_DIALECT": "2", "HTTP_X_OTHER": "3", "HTTP_COOKIE": "4"}
    assert made.pick(environ) == [("x-dialect", "2"), ("x-own", "1")]


@pytest.mark.parametrize("name", ["Authorization", "cookie", "X-Api-Key", "host", "x-goog-api-key"])
def test_no_configuration_lets_the_callers_token_through(name: str) -> None:
    made = upstream(Client(), forward_headers=(name,)).headers(())
    assert made.pick({"HTTP_" + name.upper().replace("-", "_"): "secret"}) == []


def configured(**more: Any) -> model.Upstream:
    values: dict[str, Any] = {
        "name": "u",
        "url": "https://api.example.com/base/v1/",
        "dialect": "openai",
        "credential": None,
        "timeouts": {"connect": 1.0, "first_byte": 2.0, "idle": 3.0, "total": 4.0},
        "forward_headers": ("x-a",),
        "pool": 5,
        "proxy": None,
        "tls": Tls(),
        "at": (),
    }
    return model.Upstream(**(values | more))


def test_an_upstream_is_made_without_a_connection() -> None:
    made = connect(configured())
    assert (made.name, made.dialect, made.forward_headers) == ("u", "openai", ("x-a",))
    assert made.client.base_path == "/base/v1"
    assert made.client.host == "api.example.com"
    made.client.close()


def test_an_upstream_takes_the_timeouts_that_are_said() -> None:
    made = connect(configured(timeouts={"connect": 9.0}))
    assert made.client._timeouts.connect == 9.0
    assert made.client._timeouts.total == 600


@pytest.mark.parametrize("url", ["ftp://x", "https://", "x"])
def test_an_odd_url_is_a_value_error(url: str) -> None:
    with pytest.raises(ValueError):
        connect(configured(url=url))


@pytest.mark.parametrize("raw", ["k=mine", "a=b&k=mine", "k=mine&k=more"])
def test_the_caller_cannot_say_our_query_credential(raw: str) -> None:
    upstream = connect(configured(credential=Credential("query", "k", "secret-1")))
    assert upstream.query(raw).count("k=") == 1
    assert upstream.query(raw).endswith("k=secret-1")


def test_a_header_that_repeats_our_credential_is_known() -> None:
    upstream = connect(configured(credential=Credential("query", "k", "se/cret")))
    assert upstream.betrays("https://x/?k=se%2Fcret")
    assert upstream.betrays("<https://x/?k=se/cret>; rel=next")
    assert not upstream.betrays("https://x/?k=other")
