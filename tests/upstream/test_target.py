"""What sending to an upstream needs."""

from __future__ import annotations

from typing import Any

import pytest

from engine.config.upstreams import Credential, Tls, UpstreamConfig
from engine.upstream.target import connect
from tests.support.upstreams import Client, upstream


def test_a_credential_does_not_show_its_secret() -> None:
    made = upstream(Client(), credentials=[Credential("header", "k", "s3cret")])
    assert "s3cret" not in repr(made)


def test_targets_of_one_entry_share_their_breaker_and_others_do_not() -> None:
    made = upstream(Client())
    one, same, other = made.target("m", 1, "e"), made.target("n", 1, "e"), made.target("m", 1, "f")
    assert one.breaker is same.breaker
    assert one.breaker is not other.breaker
    assert upstream(Client()).target("m", 1, "e").breaker is not one.breaker


def test_a_target_is_called_by_its_upstream_and_its_model() -> None:
    made = upstream(Client(), name="main")
    assert (made.target("m/x", 1).name, made.target("", 1).name) == ("main/m/x", "main")


def test_its_headers_are_those_of_the_dialect_and_its_own() -> None:
    made = upstream(Client(), forward_headers=("X-Own",)).headers(("x-dialect",))
    environ = {"HTTP_X_OWN": "1", "HTTP_X_DIALECT": "2", "HTTP_X_OTHER": "3", "HTTP_COOKIE": "4"}
    assert made.pick(environ) == [("x-dialect", "2"), ("x-own", "1")]


@pytest.mark.parametrize("name", ["Authorization", "cookie", "X-Api-Key", "host", "x-goog-api-key"])
def test_no_configuration_lets_the_callers_token_through(name: str) -> None:
    made = upstream(Client(), forward_headers=(name,)).headers(())
    assert made.pick({"HTTP_" + name.upper().replace("-", "_"): "secret"}) == []


def configured(**more: Any) -> UpstreamConfig:
    values: dict[str, Any] = {
        "name": "u",
        "url": "https://api.example.com/base/v1/",
        "dialect": "openai",
        "credentials": (),
        "timeouts": {"connect": 1.0, "first_byte": 2.0, "idle": 3.0, "total": 4.0},
        "forward_headers": ("x-a",),
        "pool": 5,
        "proxy": None,
        "tls": Tls(),
        "at": (),
    }
    return UpstreamConfig(**(values | more))


def test_an_upstream_is_made_without_a_connection() -> None:
    made = connect(configured())
    assert (made.name, made.dialect, made.forward_headers) == ("u", "openai", ("x-a",))
    assert made.client.base_path == "/base/v1"
    assert made.client.host == "api.example.com"
    made.client.close()


def test_an_upstream_takes_the_timeouts_that_are_said() -> None:
    made = connect(configured(timeouts={"connect": 9.0}))
    assert made.client._timeouts.connect == made.timeouts.connect == 9.0
    assert made.client._timeouts.total == 600


@pytest.mark.parametrize("url", ["ftp://x", "https://", "x"])
def test_an_odd_url_is_a_value_error(url: str) -> None:
    with pytest.raises(ValueError):
        connect(configured(url=url))
