"""Connections that callers keep open."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.recording import Wire, recorder, request
from tests.support.running import ALL, gateway, pointed_at, replaced, shipped

BODY = json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}).encode()
CHAT = request("/v1/chat/completions", BODY, token=ALL)


@pytest.mark.parametrize(("requests", "begun"), [(0, b""), (1, b""), (2, b""), (1, CHAT[:30])])
def test_an_idle_connection_ends_after_its_time_without_a_word(
    tmp_path: Path, requests: int, begun: bytes
) -> None:
    config = replaced(shipped(tmp_path / "p"), "max_body: 25MB", "max_body: 25MB\n  keepalive: 1s")
    with recorder() as upstream, gateway(tmp_path / "p", config, pointed_at(upstream.url)) as run:
        with Wire(run.port) as wire:
            for _ in range(requests):
                wire.send(CHAT)
                assert wire.answer("POST").status == 200
            wire.send(begun)
            wire.sock.settimeout(10)
            assert wire.rest() == b""
        said = run.said()
    assert "error" not in said
    assert "Traceback" not in said
