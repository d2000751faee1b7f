"""Small chats at a steady pace, in a process of its own.

    python -m benchmarks.compare.prober ENDPOINT BODY_FILE PER_SECOND SECONDS

Prints the seconds that each took, as JSON. A chat that is due while all connections wait for an
answer counts from the moment it was due: a prober that then sends less would not see the wait.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any

import gevent
import gevent.socket

from benchmarks.compare.system import Endpoint

CONNECTIONS = 16
_VARIANTS = 97
_MARK = b"in verse."


class Refused(Exception):
    """A chat was not answered with success."""


class Prober:
    """Connections that take turns; `durations` in seconds."""

    def __init__(self, endpoint: Endpoint, body: bytes, pause: float, chats: int) -> None:
        self._port = endpoint.port
        self._requests = [
            endpoint.request(body.replace(_MARK, _MARK + b" " + b"x" * (n * 37 % 251)), n)
            for n in range(_VARIANTS)
        ]
        self._pause = pause
        self._chats = chats
        self._numbers = count()
        self.durations: list[float] = []

    def run(self) -> None:
        """Send all. Raises Refused, OSError."""
        begin = time.monotonic() + 0.1
        callers = [gevent.spawn(self._call, begin) for _ in range(CONNECTIONS)]
        gevent.joinall(callers, raise_error=True)

    def _call(self, begin: float) -> None:
        with gevent.socket.create_connection(("127.0.0.1", self._port)) as sock:
            sock.setsockopt(gevent.socket.IPPROTO_TCP, gevent.socket.TCP_NODELAY, 1)
            while (number := next(self._numbers)) < self._chats:
                start = wait_until(begin + number * self._pause)
                sock.sendall(self._requests[number % _VARIANTS])
                read_answer(sock)
                self.durations.append(time.monotonic() - start)


def wait_until(due: float) -> float:
    """Wait, if there is time; return from when a chat counts, as of CLOCK_MONOTONIC: a late timer
    is no fault of the system."""
    now = time.monotonic()
    if now >= due:
        return due
    gevent.sleep(due - now)
    return time.monotonic()


def read_answer(sock: Any) -> None:
    """Read an answer to its end. Raises Refused, also for one that breaks off."""
    data = b""
    while not is_whole(data):
        more: bytes = sock.recv(65536)
        if not more:
            raise Refused(f"an answer broke off: {data[:300]!r}")
        data += more
    if not data.startswith(b"HTTP/1.1 200"):
        raise Refused(f"not answered: {data[:300]!r}")


def is_whole(data: bytes) -> bool:
    """Whether the head and all of the body have arrived."""
    head, end, body = data.partition(b"\r\n\r\n")
    if not end:
        return False
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return len(body) >= int(value)
    return body.endswith(b"0\r\n\r\n")


def main(endpoint: str, body: str, per_second: str, seconds: str) -> None:
    """Print the durations."""
    rate = float(per_second)
    chats = round(rate * float(seconds))
    prober = Prober(Endpoint.from_json(endpoint), Path(body).read_bytes(), 1 / rate, chats)
    prober.run()
    print(json.dumps(prober.durations))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (Refused, OSError) as error:
        raise SystemExit(str(error)) from error
