"""Fetched tokens on a request, from a real token server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from engine.credentials.interface.fetched import FetchedCredential
from engine.values.upstream_request import UpstreamRequest
from tests.support.recording import recorder
from tests.support.token_servers import numbered


def credential(url: str, **more: Any) -> FetchedCredential:
    options = {"token_url": url, "client": "me", "secret": "s3cr3t", "method": "basic"}
    return FetchedCredential("oauth2", "a client", options, ("s3cr3t",), **more)


def request() -> UpstreamRequest:
    return UpstreamRequest("POST", "h", "/", "", [("authorization", "Bearer caller")], b"")


def test_a_token_is_fetched_for_the_first_request_and_redacted() -> None:
    changes: list[int] = []
    with recorder() as server:
        server.speak = numbered()
        live = credential(server.url).open(None, lambda: changes.append(len(live.secrets)))
        assert (list(live.secrets), len(server.requests)) == ([], 0)
        upstream_request = [request(), request()]
        for each in upstream_request:
            live.apply(each, 9.0)
    assert [each.headers for each in upstream_request] == [
        [("authorization", "Bearer token-1")]
    ] * 2
    assert (list(live.secrets), changes) == (["token-1"], [1])


def test_headers_of_the_config_are_sent_with_it() -> None:
    with recorder() as server:
        server.speak = numbered()
        live = credential(server.url, headers=(("x-project", "p"),)).open(None, lambda: None)
        live.apply(upstream_request := request(), 9.0)
    assert upstream_request.headers == [("authorization", "Bearer token-1"), ("x-project", "p")]


def test_a_refused_token_is_replaced() -> None:
    with recorder() as server:
        server.speak = numbered()
        live = credential(server.url).open(None, lambda: None)
        live.apply(request(), 9.0)
        assert live.renew()
        live.apply(upstream_request := request(), 9.0)
    assert upstream_request.headers == [("authorization", "Bearer token-2")]


def test_workers_share_a_token_of_the_same_options_and_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def token(url: str) -> str:
        live = credential(url).open(tmp_path / "runtime", lambda: None)
        live.apply(upstream_request := request(), 9.0)
        return upstream_request.headers[0][1]

    with recorder() as server:
        server.speak = numbered()
        first = [token(server.url), token(server.url), token(f"{server.url}/other")]
        monkeypatch.setenv("AZURE_CLIENT_ID", "another")
        assert [*first, token(server.url)] == [
            "Bearer token-1",
            "Bearer token-1",
            "Bearer token-2",
            "Bearer token-3",
        ]


def test_the_module_of_a_distribution_may_fetch_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = 'def fetch(options):\n    return {"token": options["client"]}, None\n'
    (tmp_path / "acme_vault.py").write_text(source)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    live = credential("", fetcher="acme_vault").open(None, lambda: None)
    live.apply(upstream_request := request(), 9.0)
    assert upstream_request.headers == [("authorization", "Bearer me")]


def test_a_rehearsal_fetches_nothing() -> None:
    credential("http://127.0.0.1:9").placeholder().apply(upstream_request := request(), 9.0)
    assert upstream_request.headers == [("authorization", "Bearer fetched-token")]


def test_a_credential_shows_no_secret_and_names_its_header() -> None:
    one = credential("http://token.test")
    assert "s3cr3t" not in repr(one)
    assert (one.header, one.parameter, one.label) == ("authorization", "", "a client")
