"""Answers of the upstream whose items or lines are very many, very small or very long, by the name
of the model. Each is all bytes of a response; the connection ends with it."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator

from benchmarks.stall.answers import anthropic

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\nconnection: close\r\n%b\r\n"
_JSON, _EVENTS = b"application/json", b"text/event-stream"
_CHUNK = '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[%s]}'
_DELTA = '{"index":0,"delta":{"content":"%s"},"finish_reason":null}'
_LAST = '{"index":0,"delta":{},"finish_reason":"stop"}'
_MANY = 1_000_000
Answer = Callable[[], Iterator[bytes]]


def _event(choice: str, end: str = "\n\n") -> bytes:
    return f"data: {_CHUNK % choice}{end}".encode()


_FIRST, _END = _event(_DELTA % "a"), _event(_LAST) + b"data: [DONE]\n\n"


def _json(body: Callable[[], bytes], coding: bytes = b"") -> Answer:
    def answer() -> Iterator[bytes]:
        yield _HEAD % (_JSON, coding)
        yield body()

    return answer


def _empty_lines(end: bytes) -> Answer:
    """A million ends of a line between two events."""

    def answer() -> Iterator[bytes]:
        yield _HEAD % (_EVENTS, b"") + _FIRST
        for _ in range(10):
            yield end * (_MANY // 10)
        yield _END

    return answer


def _returns() -> Iterator[bytes]:
    """Events whose lines end in CR alone."""
    yield _HEAD % (_EVENTS, b"")
    event = _event(_DELTA % "word ", "\r\r")
    for _ in range(60):
        yield event * 500
    yield _event(_LAST, "\r\r") + b"data: [DONE]\r\r"


def _one_line(head: bytes, tail: bytes) -> Answer:
    """A line of 10 MB."""

    def answer() -> Iterator[bytes]:
        yield _HEAD % (_EVENTS, b"") + _FIRST + head
        for _ in range(100):
            yield b"a" * 100_000
        yield tail + _END

    return answer


def _named(kind: str, **more: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode()


def _long_block() -> Iterator[bytes]:
    """A stream of Anthropic's with one delta of 10 MB."""
    yield _HEAD % (_EVENTS, b"")
    start = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    yield _named("message_start", message={**start, "usage": {"input_tokens": 1}})
    yield _named("content_block_start", index=0, content_block={"type": "text", "text": ""})
    delta = {"type": "text_delta", "text": "a" * 10_000_000}
    yield _named("content_block_delta", index=0, delta=delta)
    yield _named("content_block_stop", index=0)
    yield _named("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 1})
    yield _named("message_stop")


def _tiny_blocks() -> bytes:
    return anthropic([{"type": "text", "text": "a"}] * _MANY)


def _tiny_choices() -> bytes:
    choice = '{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}'
    head = '{"id":"c","object":"chat.completion","created":1,"model":"m","choices":['
    return f"{head}{','.join([choice] * (_MANY // 3))}]}}".encode()


def _embeddings() -> bytes:
    """A million vectors of one number."""
    item = '{"object":"embedding","index":0,"embedding":[1]}'
    return f'{{"object":"list","model":"m","data":[{",".join([item] * _MANY)}]}}'.encode()


def _events_bomb() -> Iterator[bytes]:
    """Events that are a thousand times as long as their encoding."""
    yield _HEAD % (_EVENTS, b"content-encoding: gzip\r\n")
    event = _event(_DELTA % ("a" * 100_000))
    yield gzip.compress(event * 1_000 + _END, 9)


def _ping_bomb() -> Iterator[bytes]:
    yield _HEAD % (_EVENTS, b"content-encoding: deflate\r\n")
    yield zlib.compress(_FIRST + b": a\n\n" * 4_000_000 + _END, 9)


_EVENT_HEAD, _, _EVENT_TAIL = _event(_DELTA % "|").partition(b"|")

SHAPES: dict[str, Answer] = {
    "gpt-empty-lines": _empty_lines(b"\n"),
    "gpt-empty-returns": _empty_lines(b"\r"),
    "gpt-returns": _returns,
    "gpt-line": _one_line(_EVENT_HEAD, _EVENT_TAIL),
    "gpt-comment": _one_line(b": ", b"\n\n"),
    "gpt-field": _one_line(b"id: ", b"\n\n"),
    "claude-line": _long_block,
    "claude-tiny-blocks": _json(_tiny_blocks),
    "gpt-tiny-choices": _json(_tiny_choices),
    "text-embedding-tiny": _json(_embeddings),
    "gpt-events-bomb": _events_bomb,
    "gpt-ping-bomb": _ping_bomb,
}
"""The bytes of each answer."""
