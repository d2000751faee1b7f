"""CPU time of a worker for a turn of the Responses API: over HTTP, and over an open WebSocket.

    python -m benchmarks.responses_socket [TURNS]

Both ask the shipped gateway, in front of the mock, for the same stream; the first over a kept
connection. The times are read from /proc, in turns, so that other processes count for nothing.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

from tests.support.frames import KEY, TEXT, Peer
from tests.support.recording import Wire, request
from tests.support.running import ALL, gateway, mock, pointed_at, shipped

_ROUNDS = 6
_TICKS = os.sysconf("SC_CLK_TCK")
_BODY = {"model": "gpt-4o", "input": "one two three four five six seven eight", "store": False}


class Http:
    """Turns over one connection."""

    def __init__(self, port: int) -> None:
        self._wire = Wire(port)
        body = json.dumps({**_BODY, "stream": True}).encode()
        self._request = request("/v1/responses", body, token=ALL)

    def turn(self) -> None:
        self._wire.send(self._request)
        assert b"response.completed" in self._wire.answer("POST").body


class Socket:
    """Turns over one WebSocket."""

    def __init__(self, port: int) -> None:
        wire = Wire(port)
        upgrade = ["Upgrade: websocket", "Connection: Upgrade"]
        upgrade += ["Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {KEY}"]
        wire.send(request("/v1/responses", headers=upgrade, token=ALL))
        assert wire.head()[0] == 101
        self._peer = Peer(wire.sock, client=True)
        self._message = json.dumps({"type": "response.create", **_BODY}).encode()
        self._wire = wire  # which would close the socket

    def turn(self) -> None:
        self._peer.send(TEXT, self._message)
        while b'"response.completed"' not in self._peer.next().data:
            pass


def seconds(pids: list[int]) -> float:
    """The CPU time of processes so far."""
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(values[11]) + int(values[12]) for values in fields) / _TICKS


def main(turns: int = 500) -> None:
    """Print microseconds of CPU per turn."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = shipped(folder / "project").replace("workers: 2", "workers: 1")
        with (
            mock(folder) as upstream,
            gateway(folder / "project", config, pointed_at(upstream.url)) as front,
        ):
            kinds = {"HTTP": Http(front.port), "WebSocket": Socket(front.port)}
            costs: dict[str, list[float]] = {kind: [] for kind in kinds}
            for _ in range(_ROUNDS):
                for kind, caller in kinds.items():
                    before = seconds(front.workers())
                    for _ in range(turns):
                        caller.turn()
                    costs[kind].append((seconds(front.workers()) - before) / turns * 1e6)
    # The first round loads what is needed.
    medians = {kind: statistics.median(each[1:]) for kind, each in costs.items()}
    for kind, median in medians.items():
        print(f"{kind}: {median:.0f} us of CPU per turn")
    print(f"WebSocket / HTTP: {medians['WebSocket'] / medians['HTTP']:.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
