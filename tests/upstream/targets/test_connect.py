"""Upstreams are built of their configuration: client, timeouts, credentials, secrets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.config.transforms import TransformConfig
from engine.config.upstreams import PoolConfig, Resolve, Tls, UpstreamConfig
from engine.credentials.interface.credential import Credential, LiveCredential
from engine.credentials.interface.fixed import HeaderCredential
from engine.upstream.client.client import Client as HttpClient
from engine.upstream.client.deadlines import Timeouts
from engine.upstream.client.dial_order import Address
from engine.upstream.targets.connect import connect


def configured(**more: Any) -> UpstreamConfig:
    values: dict[str, Any] = {
        "name": "u",
        "url": "https://api.example.com/base/v1/",
        "dialect": "openai",
        "credentials": (),
        "timeouts": {"connect": 1.0, "first_byte": 2.0, "idle": 3.0, "total": 4.0},
        "forward_headers": ("x-a",),
        "pool": PoolConfig(5, 6.0, 7.0),
        "proxy": None,
        "tls": Tls(),
        "at": (),
    }
    return UpstreamConfig(**(values | more))


def test_an_upstream_is_built_without_a_connection() -> None:
    west = connect(configured())
    assert (west.name, west.dialect, west.forward_headers) == ("u", "openai", ("x-a",))
    assert west.client.base_path == "/base/v1"
    assert west.client.host == "api.example.com"
    west.client.close()


def test_an_upstream_has_the_timeouts_of_the_config() -> None:
    clients: list[dict[str, Any]] = []

    def client(url: str, **options: Any) -> Any:
        clients.append(options)
        return HttpClient(url, **options)

    west = connect(configured(timeouts={"connect": 9.0}), client)
    assert west.timeouts == Timeouts(connect=9.0, first_byte=60, idle=60, total=600)
    assert clients[0]["timeouts"] == west.timeouts
    assert [clients[0][f"pool_{key}"] for key in ("size", "idle", "age")] == [5, 6.0, 7.0]
    west.client.close()


@pytest.mark.parametrize("url", ["ftp://x", "https://", "x"])
def test_an_odd_url_is_a_value_error(url: str) -> None:
    with pytest.raises(ValueError):
        connect(configured(url=url))


def test_a_fetched_token_is_redacted_as_soon_as_it_is_there() -> None:
    class Token(HeaderCredential):
        secrets = ()  # type: ignore[assignment]

    changes: list[Callable[[], None]] = []
    live = Token("token", "authorization", "s")

    def open_credential(credential: Credential, changed: Callable[[], None]) -> LiveCredential:
        changes.append(changed)
        return live

    fixed = HeaderCredential("header", "x-key", "of-the-config")
    west = connect(configured(credentials=(fixed,)), open_credential=open_credential)
    text = b"of-the-config fetched-token"
    assert west.redaction.redact(text) == b"[redacted] fetched-token"
    Token.secrets = ("fetched-token",)  # type: ignore[assignment]
    changes[0]()
    assert west.redaction.redact(text) == b"[redacted] [redacted]"


def test_secrets_in_transforms_are_redacted() -> None:
    edits = {
        "header": {"set": {"x-api-secret": "of-a-header", "x-plain": "in-the-open"}},
        "query": {"default": {"key": "of-a-parameter", "session-key": "{request.id}"}},
    }
    transform = TransformConfig({"request": edits}, ("upstreams", "u", "transform"))
    west = connect(configured(transform=(transform,)))
    text = b"of-a-header in-the-open of-a-parameter"
    assert west.redaction.redact(text) == b"[redacted] in-the-open [redacted]"
    west.client.close()


def test_an_upstream_with_addresses_to_follow_needs_no_proxy_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.test:3128")
    west = connect(configured(resolve=Resolve()))
    assert west.replicas is not None
    west.client.at(Address("10.0.0.1", 8000))  # it has addresses of its own
    west.client.close()
