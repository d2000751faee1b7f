"""Callers of all kinds: `python -m benchmarks.soak.callers PORT TOKEN COUNT`, until it is ended.

Prints a line every second: how many requests so far, and how many of them were answered with what
was not expected.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping
from typing import Any

import gevent
import gevent.socket
import orjson

from benchmarks.chat import CHAT
from benchmarks.soak.faulty import FAULTS


def request(token: str, body: Mapping[str, Any]) -> bytes:
    text = orjson.dumps(body)
    return (
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
        % (token.encode(), len(text), text)
    )


class Caller:
    """One caller, who keeps a connection while it lasts."""

    def __init__(self, port: int, token: str, dice: random.Random) -> None:
        self._port, self._token, self._dice = port, token, dice
        self._sock: Any = None
        self.requests = self.unexpected = 0

    def run(self) -> None:
        """Ask for ever: mostly chats, some streams, refusals and faults; and leave at times."""
        kinds: list[Callable[[], bool]] = [self._chat, self._stream, self._refused, self._fault]
        kinds.append(self._leave)
        while True:
            (kind,) = self._dice.choices(kinds, weights=[70, 10, 8, 8, 4])
            try:
                good = kind()
            except OSError:
                good = False
                self._hang_up()
            self.requests += 1
            self.unexpected += not good
            gevent.sleep(0)

    def _chat(self) -> bool:
        body = {name: value for name, value in CHAT.items() if not name.startswith("stream")}
        return self._ask(body) == 200

    def _stream(self) -> bool:
        return self._ask({**CHAT, "messages": [{"role": "user", "content": "0.01 50 1"}]}) == 200

    def _refused(self) -> bool:
        which = self._dice.randrange(3)
        if which == 0:
            return self._ask(CHAT, token="mw-nobody") == 401
        if which == 1:
            return self._ask({**CHAT, "temperature": "hot"}) == 400
        return self._ask({**CHAT, "model": "nothing"}) == 404

    def _fault(self) -> bool:
        model = self._dice.choice(FAULTS)
        status = self._ask({**CHAT, "model": model})
        return status >= 500 or (status in (0, 200) and model in ("bad-cut", "bad-frozen"))

    def _leave(self) -> bool:
        """Ask, and go away before the answer or in its middle."""
        long = {**CHAT, "messages": [{"role": "user", "content": "0.01 1000 1"}]}
        self._connected().sendall(request(self._token, long))
        gevent.sleep(self._dice.choice([0, 0.02, 0.2]))
        self._hang_up()
        return True

    def _ask(self, body: Mapping[str, Any], token: str = "") -> int:
        """The status of an answer that was read to its end; 0 when none came."""
        sock = self._connected()
        sock.sendall(request(token or self._token, body))
        data = b""
        while not is_complete(data):
            more = sock.recv(65536)
            if not more:
                self._hang_up()
                break
            data += more
        if b"\r\nconnection: close" in data.partition(b"\r\n\r\n")[0].lower():
            self._hang_up()
        return int(data[9:12]) if data.startswith(b"HTTP/1.1 ") else 0

    def _connected(self) -> Any:
        if self._sock is None:
            self._sock = gevent.socket.create_connection(("127.0.0.1", self._port), timeout=30)
        return self._sock

    def _hang_up(self) -> None:
        if self._sock is not None:
            self._sock.close()
        self._sock = None


def is_complete(data: bytes) -> bool:
    """Whether an answer is there to its end."""
    head, separator, body = data.partition(b"\r\n\r\n")
    head = head.lower()
    if b"\r\ntransfer-encoding: chunked" in head:
        return body.endswith(b"0\r\n\r\n")
    length = head.partition(b"\r\ncontent-length: ")[2].split(b"\r\n")[0]
    return bool(separator) and len(body) >= int(length or 0)


def main(port: int, token: str, count: int) -> None:
    callers = [Caller(port, token, random.Random(number)) for number in range(count)]
    for caller in callers:
        gevent.spawn(caller.run)
    while True:
        gevent.sleep(1)
        requests, unexpected = sum(c.requests for c in callers), sum(c.unexpected for c in callers)
        print(requests, unexpected, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
