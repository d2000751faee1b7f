"""Callers that take streams, in a process of their own.

    python -m benchmarks.compare.callers ENDPOINT COUNT SECONDS KIND   all at once
    python -m benchmarks.compare.callers ENDPOINT COUNT first          one by one

The first prints a line when all are open, one for each tenth of a second with the time
(CLOCK_MONOTONIC) and the events so far, and at its end the longest silence; the second prints the
seconds to the first byte of each. KIND is what the upstream is told, ENDPOINT an
`Endpoint` as JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Any

import gevent
import gevent.socket

from benchmarks.compare.system import MODEL, Endpoint

FIRST = "0 3 1"


def request(endpoint: Endpoint, kind: str) -> bytes:
    """A chat to be streamed, as bytes."""
    messages = [{"role": "user", "content": kind}]
    body = {"model": MODEL, "stream": True, "messages": messages}
    return endpoint.request(json.dumps(body, separators=(",", ":")).encode())


class Callers:
    """Streams at once; `events` so far, and the `longest` silence in any, in seconds."""

    def __init__(self, port: int, text: bytes) -> None:
        self._port = port
        self._request = text
        self.open = self.events = self.ended = 0
        self.longest = 0.0

    def call(self) -> None:
        """Take one stream. SystemExit when it is refused or cut."""
        with gevent.socket.create_connection(("127.0.0.1", self._port)) as sock:
            sock.sendall(self._request)
            tail, has_content, last = b"", False, 0.0
            while not tail.endswith(b"0\r\n\r\n"):
                data = sock.recv(262_144)
                if not data or data.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5")):
                    raise SystemExit(f"a stream was refused or cut: {data[:300]!r}")
                events = data.count(b"data: ")
                now = time.monotonic()
                if has_content:
                    self.longest = max(self.longest, now - last)
                elif events:
                    has_content = True
                    self.open += 1
                self.events += events
                tail, last = (tail + data)[-40:], now
            if b"[DONE]" not in tail:
                raise SystemExit(f"a stream ended early: {tail!r}")
        self.ended += 1


def call_all(port: int, text: bytes, count: int, seconds: float) -> None:
    """Begin `count` streams over `seconds`, and print how they go on."""
    callers = Callers(port, text)
    started = [gevent.spawn_later(seconds * n / count, callers.call) for n in range(count)]
    is_announced = False
    while callers.ended < count:
        gevent.sleep(0.1)
        failed: Any = next((g for g in started if g.ready() and not g.successful()), None)
        if failed is not None:
            raise SystemExit(str(failed.value or failed.exception))
        if not is_announced and callers.open == count:
            is_announced = True
            print("open", flush=True)
        print(time.monotonic(), callers.events, flush=True)
    print("longest", callers.longest, flush=True)


def first_bytes(port: int, text: bytes, count: int) -> list[float]:
    """Seconds from a request to the first byte of its stream's first event."""
    durations = []
    with gevent.socket.create_connection(("127.0.0.1", port)) as sock:
        for _ in range(count):
            start, data = time.perf_counter(), b""
            sock.sendall(text)
            while b"data: " not in data:
                data = _more(sock, data)
            durations.append(time.perf_counter() - start)
            while not data.endswith(b"0\r\n\r\n"):
                data = _more(sock, data)
    return durations


def _more(sock: Any, data: bytes) -> bytes:
    more: bytes = sock.recv(65536)
    if not more:
        raise SystemExit(f"a stream was cut: {data[:300]!r}")
    return data + more


if __name__ == "__main__":
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    target, number = Endpoint.from_json(sys.argv[1]), int(sys.argv[2])
    if sys.argv[3] == "first":
        print(json.dumps(first_bytes(target.port, request(target, FIRST), number)))
    else:
        call_all(target.port, request(target, sys.argv[4]), number, float(sys.argv[3]))
