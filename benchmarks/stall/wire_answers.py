"""Answers of the upstream that are odd in their encoding, headers or lines, by the name of the
model. Each is all bytes of a response; the connection ends with it."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator

from benchmarks.stall.answers import SIZE, TEXT, chat, small

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\nconnection: close\r\n%b\r\n"
_JSON, _EVENTS = b"application/json", b"text/event-stream"
_CHUNK = '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[%s]}'
_DELTA = '{"index":0,"delta":{"content":"%s"},"finish_reason":null}'
_LAST = '{"index":0,"delta":{},"finish_reason":"stop"}'
Answer = Callable[[], Iterator[bytes]]


def _event(choice: str) -> bytes:
    return f"data: {_CHUNK % choice}\n\n".encode()


_FIRST, _END = _event(_DELTA % "a"), _event(_LAST) + b"data: [DONE]\n\n"


def _encoded(name: bytes, encode: Callable[[bytes], bytes]) -> Answer:
    """A text of 30 MB in a content coding."""

    def answer() -> Iterator[bytes]:
        yield _HEAD % (_JSON, b"content-encoding: %b\r\n" % name)
        yield encode(chat({"role": "assistant", "content": TEXT * (SIZE // len(TEXT))}))

    return answer


def _encoded_events() -> Iterator[bytes]:
    yield _HEAD % (_EVENTS, b"content-encoding: gzip\r\n")
    coder = zlib.compressobj(1, wbits=31)
    yield coder.compress(_FIRST * 50_000 + _END) + coder.flush()


def _lines() -> Iterator[bytes]:
    """Events of lines of 1 MB."""
    yield _HEAD % (_EVENTS, b"") + _FIRST
    for _ in range(30):
        yield _event(_DELTA % ("a" * 1_000_000))
    yield _END


def _heartbeats() -> Iterator[bytes]:
    """A million comments before the end of a stream."""
    yield _HEAD % (_EVENTS, b"") + _FIRST
    for _ in range(100):
        yield b": a\n\n" * 10_000
    yield _END


def _json_lines() -> Iterator[bytes]:
    """A stream of lines of JSON in place of events."""
    yield _HEAD % (b"application/x-ndjson", b"")
    line = (_CHUNK % (_DELTA % "word ")).encode() + b"\n"
    for _ in range(60):
        yield line * 1_000
    yield (_CHUNK % _LAST).encode() + b"\n"


def _header_lists() -> Iterator[bytes]:
    """Long lists in headers that a gateway reads or edits."""
    link = b"</v1/items/%d>; rel=next, "
    links = (
        b"link: " + b"".join(link % number for number in range(5_000)) + b"</v1/x>; rel=last\r\n"
    )
    cookies = b"".join(b"set-cookie: a%d=%b\r\n" % (n, b"b" * 100) for n in range(300))
    others = b"cache-control: " + b"max-age=1, " * 500 + b"private\r\n"
    vary = b"vary: " + b"accept-encoding, " * 500 + b"origin\r\n"
    yield _HEAD % (_JSON, links + cookies + others + vary) + small()


def _parts() -> Iterator[bytes]:
    """An answer of 30 MB in parts."""
    yield _HEAD % (b"multipart/mixed; boundary=b", b"")
    part = b"--b\r\ncontent-type: image/png\r\n\r\n" + bytes(1_000) + b"\r\n"
    for _ in range(30):
        yield part * 1_000
    yield b"--b--\r\n"


WIRE: dict[str, Answer] = {
    "gpt-gzipped": _encoded(b"gzip", lambda data: zlib.compress(data, 1, 31)),
    "gpt-deflated": _encoded(b"deflate", lambda data: zlib.compress(data, 1)),
    "gpt-brotli": _encoded(b"br", lambda data: random.Random(1).randbytes(SIZE)),  # it is not read
    "gpt-zipped-events": _encoded_events,
    "gpt-long-lines": _lines,
    "gpt-heartbeats": _heartbeats,
    "gpt-json-lines": _json_lines,
    "gpt-header-lists": _header_lists,
    "gpt-parts": _parts,
}
"""The bytes of each answer."""
