"""The upstream of every vendor, with raw sockets: `python -m benchmarks.translation.vendors PORT`.

It answers in the language of the path, in one piece or as a stream. Each connection begins with
another answer, so that no two are alike at any time.
"""

from __future__ import annotations

import itertools
import re
import socket
import sys
from collections.abc import Callable
from functools import cache

import gevent
from gevent.server import StreamServer

from benchmarks.translation.chats import LANGUAGES, VARIANTS, answers, stream
from engine.translations.neutral.language import Language

PACE = 0.01
TOKENS = 150
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_RESPONSE = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
    b"x-request-id: req_%016x\r\n\r\n%s"
)
_NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def read_message(sock: socket.socket, buffer: bytes = b"") -> tuple[bytes, bytes]:
    """The head and the body of a message with a Content-Length; empty when there is none."""
    while b"\r\n\r\n" not in buffer:
        data = sock.recv(65536)
        if not data:
            return b"", b""
        buffer += data
    head, _, body = buffer.partition(b"\r\n\r\n")
    match = _LENGTH.search(head)
    length = int(match[1]) if match else 0
    while len(body) < length:
        body += sock.recv(65536)
    return head, body


class Vendor:
    """Answers every vendor's callers; streams have `tokens` tokens, after each of which it calls
    `wait`."""

    def __init__(self, tokens: int, wait: Callable[[], object]) -> None:
        self._tokens, self._wait = tokens, wait
        self._connections = itertools.count()
        self._chunks = cache(self._make_chunks)

    def handle(self, sock: socket.socket, _: object) -> None:
        """Answer on one connection."""
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for turn in itertools.count(next(self._connections)):
            head, body = read_message(sock)
            if not head:
                return
            path = head.split(b" ", 2)[1].partition(b"?")[0].decode()
            language = _language_of(path)
            if language is None:
                sock.sendall(_NOT_FOUND)
            elif b'"stream":true' in body or path.endswith(":streamGenerateContent"):
                self._stream(sock, language, turn)
            else:
                answer = answers(language)[turn % VARIANTS]
                sock.sendall(_RESPONSE % (len(answer), turn, answer))

    def _stream(self, sock: socket.socket, language: Language, turn: int) -> None:
        sock.sendall(_HEAD)
        for part in self._chunks(language, turn % 8):
            sock.sendall(part)
            self._wait()

    def _make_chunks(self, language: Language, seed: int) -> tuple[bytes, ...]:
        events = stream(language, self._tokens, seed)
        first, *others = events.pieces
        *parts, last = (events.head + first, *others, events.tail)
        return (*map(_chunk, parts), _chunk(last) + b"0\r\n\r\n")


@cache
def _language_of(path: str) -> Language | None:
    """The language of an operation. Kept: what the engine does for it is no part of a request."""
    return next((candidate for candidate in LANGUAGES if candidate.speaks(path)), None)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


if __name__ == "__main__":
    vendor = Vendor(TOKENS, lambda: gevent.sleep(PACE))
    StreamServer(("127.0.0.1", int(sys.argv[1])), vendor.handle, backlog=4096).serve_forever()
