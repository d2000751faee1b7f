"""The answers of the upstream that hardly any server sends, by the name of the model."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator

_EVENTS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n%b\r\n"
_JSON = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n%b\r\n"
_CHUNKED = b"transfer-encoding: chunked\r\n"
_USAGE = '"usage":{"prompt_tokens":5,"completion_tokens":5,"total_tokens":10}'
_HEAD = '{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,'
_TEXT = "The quick brown fox jumps over the lazy dog, again and again. "
_MESSAGE = _HEAD + '"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],%s'
_SIZE = 3_000_000


def _whole(content: str, more: str = "", size: int = 1) -> bytes:
    """A chat completion with this content, and `size` times more in another member."""
    return (_MESSAGE % (content, f'"more":[{more * size}1],' + _USAGE + "}")).encode()


def _chunks(data: bytes) -> Iterator[bytes]:
    """Chunks of one byte."""
    for at in range(0, len(data), 10_000):
        yield b"".join(b"1\r\n%c\r\n" % byte for byte in data[at : at + 10_000])
    yield b"0\r\n\r\n"


def _event(delta: str = "{}", finish: str = "null", more: str = "") -> bytes:
    head = '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":['
    choice = f'{{"index":0,"delta":{delta},"finish_reason":{finish}}}'
    return f"data: {head}{choice}]{more}}}\n\n".encode()


_FIRST, _LAST = _event('{"role":"assistant","content":"a"}'), _event(finish='"stop"')
_DONE = b"data: [DONE]\n\n"


def _stream(piece: bytes, size: int = _SIZE, head: bytes = b"") -> Iterator[bytes]:
    """A stream of one piece again and again between its first and its last event."""
    yield _EVENTS % head + _FIRST
    several = piece * max(1, 50_000 // len(piece))
    for _ in range(size // len(several)):
        yield several
    yield _LAST + _DONE


def _headers() -> Iterator[bytes]:
    yield _JSON % b"".join(b"x-%d: a\r\n" % number for number in range(20_000))
    yield _whole('"a"')


def _tiny_chunks() -> Iterator[bytes]:
    yield _JSON % _CHUNKED
    yield from _chunks(_whole(json.dumps(_TEXT * 20_000)))


def _pieces() -> Iterator[bytes]:
    yield _EVENTS % _CHUNKED
    yield from _chunks(_FIRST * 5_000 + _LAST + _DONE)


def _pings() -> Iterator[bytes]:
    yield _EVENTS % b""
    yield b'event: ping\ndata: {"type":"ping"}\n\n' * 20_000
    start = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    yield _named("message_start", message={**start, "usage": {"input_tokens": 1}})
    yield _named("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 1})
    yield _named("message_stop")


def _named(kind: str, **more: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode()


def _tiny_blocks() -> Iterator[bytes]:
    yield _EVENTS % b""
    start = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    yield _named("message_start", message={**start, "usage": {"input_tokens": 1}})
    yield _named("content_block_start", index=0, content_block={"type": "text", "text": ""})
    delta = _named("content_block_delta", index=0, delta={"type": "text_delta", "text": "a"})
    for _ in range(50):
        yield delta * 500
    yield _named("content_block_stop", index=0)
    yield _named("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 1})
    yield _named("message_stop")


def _items() -> Iterator[bytes]:
    yield _JSON % b"" + b"[" + _FIRST[6:-2]
    for _ in range(60):
        yield b",{}" * 16_000
    yield b"," + _LAST[6:-2] + b"]"


def _lines() -> Iterator[bytes]:
    """Events of as many lines as one may have."""
    yield _EVENTS % b"" + _FIRST
    for _ in range(30):
        yield b"data: {\n" + b"data:\n" * 9_000 + b"data: }\n\n"
    yield _LAST + _DONE


def _compressed(body: bytes) -> Iterator[bytes]:
    yield _JSON % b"content-encoding: gzip\r\n" + gzip.compress(body, 1)


def _bomb() -> bytes:
    return gzip.compress(bytes(500_000_000), 9)


def _whole_answer(body: Callable[[], bytes]) -> Callable[[], Iterator[bytes]]:
    def answer() -> Iterator[bytes]:
        yield _JSON % b"" + body()

    return answer


def _deep() -> bytes:
    deep = "[" * 1_000 + "{}" + ",{}" * 40_000 + "]" * 1_000
    return (_MESSAGE % ('"a"', f'"more":{deep},{_USAGE}}}')).encode()


def _gzip() -> Iterator[bytes]:
    yield _JSON % b"content-encoding: gzip\r\n" + _BOMB


_BOMB = _bomb()

RAW: dict[str, Callable[[], Iterator[bytes]]] = {
    "gpt-headers": _headers,
    "gpt-chunks": _tiny_chunks,
    "gpt-pieces": _pieces,
    "gpt-tiny": lambda: _stream(b"data: 1\n\n"),
    "gpt-errors": lambda: _stream(b'data: {"error":null}\n\n'),
    "claude-tiny": _tiny_blocks,
    "claude-pings": _pings,
    "gpt-items": _items,
    "gpt-lines": _lines,
    "gpt-numbers": _whole_answer(lambda: _whole('"a"', "1,", 10_000_000)),
    "gpt-deep": _whole_answer(_deep),
    "gpt-gzip": _gzip,
    "claude-gzip": _gzip,
}
"""The bytes of each answer, its head included; the connection ends with it."""
