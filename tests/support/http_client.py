"""The HTTP client of upstreams, connected to a peer that a test scripts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from engine.upstream.client.client import Client
from engine.upstream.client.deadlines import Timeouts
from engine.upstream.client.failures import UpstreamFailure
from engine.upstream.client.response import UpstreamResponse
from tests.support.peer import Handler, Peer, serving

SHORT = 0.05
LONG = 50.0


@contextmanager
def connected(handle: Handler, **options: Any) -> Iterator[tuple[Client, Peer]]:
    """A client with `options` whose upstream is `handle`."""
    with serving(handle) as peer:
        client = Client(peer.url, **{"timeouts": Timeouts(LONG, LONG, LONG, LONG), **options})
        try:
            yield client, peer
        finally:
            client.close()


def get(client: Client) -> UpstreamResponse:
    return client.send("GET", "/", [], None)


def read_all(response: UpstreamResponse) -> bytes:
    """The whole body; the response is closed."""
    data = b"".join(iter(response.read, b""))
    response.close()
    return data


def failure_of(client: Client) -> UpstreamFailure:
    """The failure of a request and its response."""
    with pytest.raises(UpstreamFailure) as excinfo:
        read_all(get(client))
    return excinfo.value


def progress(failure: UpstreamFailure) -> tuple[str, bool, bool]:
    """The kind of a failure, whether a response had started, whether the request was sent."""
    return failure.kind, failure.response_started, failure.request_sent


class Chunks:
    """A request body that counts how often it was read."""

    def __init__(self, *chunks: bytes, size: int | None = None, is_replayable: bool = True) -> None:
        self._chunks = chunks
        self.is_replayable = is_replayable
        self.size = sum(map(len, chunks)) if size is None else size
        self.times = 0

    def chunks(self) -> Iterator[bytes]:
        self.times += 1
        return iter(self._chunks)
