"""Connections that callers keep open."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.support.recorded import RecordedGateway, recorded_gateway
from tests.support.recording import Wire, request
from tests.support.running import ALL, replaced, shipped

BODY = json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}).encode()
CHAT = request("/v1/chat/completions", BODY, token=ALL)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedGateway]:
    folder = tmp_path_factory.mktemp("connections") / "p"
    config = replaced(shipped(folder), "max_body: 25MB", "max_body: 25MB\n  keepalive: 1s")
    with recorded_gateway(folder, config) as running:
        yield running


@pytest.mark.parametrize(
    ("requests", "first_bytes"), [(0, b""), (1, b""), (2, b""), (1, CHAT[:30])]
)
def test_an_idle_connection_ends_after_its_time_without_a_word(
    recorded: RecordedGateway, requests: int, first_bytes: bytes
) -> None:
    with Wire(recorded.gateway.port) as wire:
        for _ in range(requests):
            wire.send(CHAT)
            assert wire.answer("POST").status == 200
        wire.send(first_bytes)
        assert wire.rest() == b""
    output = recorded.gateway.output()
    assert "error" not in output
    assert "Traceback" not in output
