"""The pages over HTTP from the real server."""

from __future__ import annotations

import gzip

from tests.support.recording import Wire, ask, request
from tests.support.running import Platform

FORGED = ["X-Forwarded-Proto: https", "X-Forwarded-Host: evil.example"]


def test_untrusted_forwarded_headers_do_not_change_the_base_url(console: Platform) -> None:
    page = ask(console.port, request("/", headers=FORGED)).body.decode()
    assert ">http://gateway/v1</code>" in page
    assert "evil.example" not in page
    assert b"evil.example" not in ask(console.port, request("/openapi.json", headers=FORGED)).body


def test_pages_keep_the_connection_open(console: Platform) -> None:
    """Each response has the right length, also those without a body."""
    with Wire(console.port) as wire:
        wire.send(request("/"))
        page = wire.answer("GET")
        tag = page.value("etag")
        wire.send(request("/", method="HEAD"))
        assert wire.answer("HEAD").value("content-length") == str(len(page.body))
        wire.send(request("/", headers=[f"If-None-Match: {tag}"]))
        assert wire.answer("GET").status == 304
        wire.send(request("/", headers=["Accept-Encoding: gzip"]))
        small = wire.answer("GET")
        assert gzip.decompress(small.body) == page.body
        assert not small.closed


def test_a_preflight_keeps_the_connection_open(console: Platform) -> None:
    preflight = [f"Origin: {console.mock.url}", "Access-Control-Request-Method: POST"]
    with Wire(console.port) as wire:
        wire.send(request("/v1/chat/completions", method="OPTIONS", headers=preflight))
        answer = wire.answer("OPTIONS")
        assert answer.status == 204
        assert answer.value("access-control-allow-methods") == "POST"
        wire.send(request("/"))
        assert wire.answer("GET").status == 200
