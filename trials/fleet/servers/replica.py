"""A model server of the bed, alike to vLLM: `python -m trials.fleet.servers.replica NAME
ADDRESS PORT`.

It answers chats with the caller's last message, word by word where a stream is asked for, and says
its name as `system_fingerprint`. `POST /control` changes how it behaves, `GET /control` counts.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections import Counter
from typing import Any

import gevent
import orjson
from gevent.server import StreamServer

_FIRST, _WORD = 0.02, 0.005
"""Seconds to the first word, and for each word."""


class Replica:
    """Its behaviour: `slow` times the usual seconds, `silent` (it accepts and never answers),
    `flapping` seconds of 503 after as many of work, `stream_word` seconds for a word."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.behaviour: dict[str, Any] = {"slow": 1.0, "silent": False, "flapping": 0.0}
        self.requests = self.open = self.most_open = 0
        self.statuses: Counter[int] = Counter()
        self._numbers = itertools.count(1)

    def serve(self, sock: Any, _address: object) -> None:
        """One connection, until its peer leaves."""
        reader = sock.makefile("rb")
        try:
            while head := self._head(reader):
                method, path, length = head
                body = reader.read(length)
                self._answer(sock, method, path, body)
        except OSError:
            pass
        finally:
            reader.close()
            sock.close()

    def _head(self, reader: Any) -> tuple[str, str, int] | None:
        line = reader.readline().decode("latin-1").split()
        if len(line) != 3:
            return None
        length = 0
        while (field := reader.readline().strip().lower()) != b"":
            if field.startswith(b"content-length:"):
                length = int(field[15:])
        return line[0], line[1], length

    def _answer(self, sock: Any, method: str, path: str, body: bytes) -> None:
        if path == "/control":
            self.behaviour.update(orjson.loads(body) if method == "POST" else {})
            _send(sock, 200, self._counts())
            return
        if self.behaviour["silent"]:
            gevent.sleep(3600)
        status = 503 if self._is_down() else 200
        if not path.endswith("/chat/completions"):
            _send(sock, status, {"status": "ok" if status == 200 else "down"})
            return
        self.requests += 1
        self.statuses[status] += 1
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            if status == 200:
                self._chat(sock, orjson.loads(body))
            else:
                _send(sock, status, {"error": {"message": "flapping", "type": "server_error"}})
        finally:
            self.open -= 1

    def _is_down(self) -> bool:
        period = self.behaviour["flapping"]
        return bool(period) and time.monotonic() // period % 2 == 1

    def _counts(self) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "open": self.open,
            "most_open": self.most_open,
            "statuses": {str(status): count for status, count in self.statuses.items()},
        }

    def _chat(self, sock: Any, request: dict[str, Any]) -> None:
        words = request["messages"][-1]["content"].split()
        slow = self.behaviour["slow"]
        base = {
            "id": f"chatcmpl-{self.name}-{next(self._numbers)}",
            "created": int(time.time()),
            "model": request["model"],
            "system_fingerprint": self.name,
        }
        usage = {"prompt_tokens": len(words), "completion_tokens": len(words)}
        usage["total_tokens"] = 2 * len(words)
        gevent.sleep(_FIRST * slow)
        if request.get("stream"):
            self._stream(sock, words, base, usage)
            return
        gevent.sleep(_WORD * len(words) * slow)
        message = {"role": "assistant", "content": " ".join(words)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        value = {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
        _send(sock, 200, value)

    def _stream(
        self, sock: Any, words: list[str], base: dict[str, Any], usage: dict[str, int]
    ) -> None:
        sock.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        chunk = {**base, "object": "chat.completion.chunk"}
        pause = self.behaviour.get("stream_word", _WORD) * self.behaviour["slow"]
        for number, word in enumerate(words):
            delta = {"content": word if number == 0 else f" {word}"}
            _event(sock, {**chunk, "choices": [{"index": 0, "delta": delta}]})
            gevent.sleep(pause)
        end = {"index": 0, "delta": {}, "finish_reason": "stop"}
        _event(sock, {**chunk, "choices": [end]})
        _event(sock, {**chunk, "choices": [], "usage": usage})
        sock.sendall(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")


def _send(sock: Any, status: int, value: dict[str, Any]) -> None:
    body = orjson.dumps(value)
    sock.sendall(
        b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
        % (status, len(body), body)
    )


def _event(sock: Any, value: dict[str, Any]) -> None:
    data = b"data: " + orjson.dumps(value) + b"\n\n"
    sock.sendall(b"%x\r\n%s\r\n" % (len(data), data))


if __name__ == "__main__":
    server = StreamServer((sys.argv[2], int(sys.argv[3])), Replica(sys.argv[1]).serve, backlog=1024)
    server.serve_forever()
