"""Who asks the gateway, and who answers it, in its own process and always in the same order."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import gevent
import gevent.socket
import orjson
from gevent.lock import Semaphore

from benchmarks.chat import CHAT

_ANSWER = orjson.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Snow, and then some more. " * 20},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 250, "completion_tokens": 120, "total_tokens": 370},
    }
)
_RESPONSE = (
    b"HTTP/1.1 200 OK\r\ndate: Mon, 01 Jan 2024 00:00:00 GMT\r\nserver: scripted\r\n"
    b"content-type: application/json\r\nx-request-id: 0123456789abcdef\r\n"
    b"openai-processing-ms: 12\r\ncontent-length: %d\r\n\r\n%s" % (len(_ANSWER), _ANSWER)
)
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_EVENT = (
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o",'
    b'"choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}\n\n'
)
_LAST = (
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o",'
    b'"choices":[],"usage":{"prompt_tokens":250,"completion_tokens":120,"total_tokens":370}}\n\n'
    b"data: [DONE]\n\n"
)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


class Upstream:
    """Answers on a port of its own: JSON, or `events` one by one, each when `turn` is released."""

    def __init__(self) -> None:
        self._listener: Any = gevent.socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen()
        self.port: int = self._listener.getsockname()[1]
        self.events = 0
        self.turn = Semaphore(0)
        gevent.spawn(self._serve)

    def _serve(self) -> None:
        while True:
            sock, _ = self._listener.accept()
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            gevent.spawn(self._answer, sock)

    def _answer(self, sock: Any) -> None:
        while request := _read_request(sock):
            if b'"stream":true' not in request:
                sock.sendall(_RESPONSE)
                continue
            sock.sendall(_HEAD)
            for _ in range(self.events):
                sock.sendall(_chunk(_EVENT))
                self.turn.acquire()
            sock.sendall(_chunk(_LAST) + b"0\r\n\r\n")


class Caller:
    """Asks over one connection, one request after the other."""

    def __init__(self, sock: Any, token: str) -> None:
        self._sock = sock
        self._json_request = _request(dict(CHAT, stream=False, stream_options=None), token)
        self._stream_request = _request(CHAT, token)

    def ask(self) -> None:
        """A chat answered as JSON. RuntimeError unless the answer is the upstream's."""
        self._sock.sendall(self._json_request)
        data = self._sock.recv(65536)
        while not data.endswith(_ANSWER):
            self._more(data)
            data += self._sock.recv(65536)
        if not data.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(data[:500])

    def stream(self, arrived: Callable[[], object]) -> int:
        """A chat answered as a stream, `arrived` called for each event; how many there were."""
        self._sock.sendall(self._stream_request)
        pieces, data = 0, b""
        while not data.endswith(b"0\r\n\r\n"):
            data = self._sock.recv(65536)
            self._more(data)
            if data.endswith(_EVENT + b"\r\n"):
                pieces += 1
                arrived()
        return pieces

    def _more(self, data: bytes) -> None:
        if not data or data.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5")):
            raise RuntimeError(f"not what was asked for: {data[:500]!r}")


def _request(body: dict[str, Any], token: str) -> bytes:
    text = orjson.dumps({name: value for name, value in body.items() if value is not None})
    return (
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"
        b"User-Agent: benchmarks/1\r\nAccept: application/json\r\nAuthorization: Bearer %s\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
        % (token.encode(), len(text), text)
    )


def _read_request(sock: Any) -> bytes:
    """A request with its body; b"" when there is none any more."""
    data: bytes = sock.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    if data:
        length = int(head.lower().rpartition(b"content-length: ")[2].split(b"\r\n")[0])
        while len(body) < length:
            body += sock.recv(65536)
    return head + body
