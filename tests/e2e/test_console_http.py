"""The pages over the wire, as gunicorn sends them."""

from __future__ import annotations

import gzip

from tests.support.recording import Wire, ask, request
from tests.support.running import Platform

FORGED = ["X-Forwarded-Proto: https", "X-Forwarded-Host: evil.example"]


def test_a_stranger_does_not_choose_the_address(console: Platform) -> None:
    page = ask(console.port, request("/", headers=FORGED)).body.decode()
    assert ">http://gateway/v1</code>" in page
    assert "evil.example" not in page
    assert b"evil.example" not in ask(console.port, request("/openapi.json", headers=FORGED)).body


def test_pages_share_a_connection(console: Platform) -> None:
    """Each answer ends where it says, also those without a body."""
    with Wire(console.port) as wire:
        wire.send(request("/"))
        whole = wire.answer("GET")
        tag = whole.value("etag")
        wire.send(request("/", method="HEAD"))
        assert wire.answer("HEAD").value("content-length") == str(len(whole.body))
        wire.send(request("/", headers=[f"If-None-Match: {tag}"]))
        assert wire.answer("GET").status == 304
        wire.send(request("/", headers=["Accept-Encoding: gzip"]))
        small = wire.answer("GET")
        assert gzip.decompress(small.body) == whole.body
        assert not small.closed


def test_a_preflight_leaves_the_connection_as_it_was(console: Platform) -> None:
    said = [f"Origin: {console.mock.url}", "Access-Control-Request-Method: POST"]
    with Wire(console.port) as wire:
        wire.send(request("/v1/chat/completions", method="OPTIONS", headers=said))
        answer = wire.answer("OPTIONS")
        assert answer.status == 204
        assert answer.value("access-control-allow-methods") == "POST"
        wire.send(request("/"))
        assert wire.answer("GET").status == 200
