"""A gateway in front of an upstream that records what reaches it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.recording import Recorder, recorder
from tests.support.running import Running, gateway, pointed_at


@dataclass(frozen=True)
class RecordedGateway:
    """A gateway and its upstream: the fixtures `port` and `upstream` of tests/e2e."""

    gateway: Running
    upstream: Recorder


@contextmanager
def recorded_gateway(folder: Path, config: str) -> Iterator[RecordedGateway]:
    """Serve a config whose upstreams are at `${UPSTREAM}`, or are those of the shipped project."""
    with recorder() as upstream, gateway(folder, config, pointed_at(upstream.url)) as running:
        yield RecordedGateway(running, upstream)
