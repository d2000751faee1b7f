"""GuardCalls are asked by URL, or with the credential of an upstream."""

from __future__ import annotations

import pytest

from engine.app.routes.guard_calls import MAX_ANSWER, HttpGuardCalls
from engine.app.routes.upstreams import upstreams_of
from engine.config.config import Config
from engine.exchange.stage_services import GuardFailed, Services
from engine.upstream.client.client import Client
from tests.support.recording import answer, recorder
from tests.support.rehearsing import CONFIG, patched, planned


def webhooks_of(tmp_path, url) -> HttpGuardCalls:
    upstream = {
        "url": f"{url}/judge",
        "proxy": "",
        "credential": {"bearer": "guard-secret"},
        "headers": {"set": {"X-Zone": "eu"}},
    }
    result = planned(tmp_path, patched(CONFIG, {"upstreams": {"presidio": upstream}}))
    config: Config = result.plan.config

    def opened(credential, changed):
        return credential.open(None, changed)

    upstreams = upstreams_of(config, Services(), Client, opened)
    return HttpGuardCalls(config.upstreams, upstreams, Client)


@pytest.fixture
def upstream():
    with recorder() as recording:
        recording.speak = answer(b'{"action": "pass"}')
        yield recording


def test_an_upstream_is_asked_with_its_credential_and_headers(tmp_path, upstream):
    webhooks = webhooks_of(tmp_path, upstream.url)
    assert webhooks.post("presidio", b"{}", 20.0) == b'{"action": "pass"}'
    received = upstream.last
    assert received.line == "POST /judge HTTP/1.1"
    assert received.values("authorization") == ["Bearer guard-secret"]
    assert received.values("x-zone") == ["eu"]
    assert received.values("content-type") == ["application/json"]


def test_a_url_is_asked_as_it_is_written_and_without_a_credential(tmp_path, upstream):
    webhooks = webhooks_of(tmp_path, upstream.url)
    for _ in range(2):
        webhooks.post(f"{upstream.url}/a/b", b"{}", 20.0)
    assert (upstream.last.line, upstream.connections) == ("POST /a/b HTTP/1.1", 1)
    assert upstream.last.values("authorization") == []
    webhooks.close()


def test_failures_are_sentences(tmp_path, upstream):
    webhooks = webhooks_of(tmp_path, upstream.url)
    with pytest.raises(GuardFailed, match=r"^no connection to the webhook$"):
        webhooks.post("http://127.0.0.1:9/", b"{}", 20.0)
    upstream.speak = answer(b"no", status=503)
    with pytest.raises(GuardFailed, match=r"^it answered with status 503$"):
        webhooks.post("presidio", b"{}", 20.0)
    upstream.speak = answer(b"x" * (MAX_ANSWER + 1))
    with pytest.raises(GuardFailed, match=r"^its answer has over 2000000 bytes$"):
        webhooks.post("presidio", b"{}", 20.0)
    upstream.speak = lambda received, sock: None
    with pytest.raises(GuardFailed, match=r"^the webhook did not"):
        webhooks.post("presidio", b"{}", 0.1)
