"""Server-sent events as one text: what a tool's result has of a stream."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

from engine.process.loop_turn import paced_if_many
from engine.values.trees import objects_of

_END = re.compile(rb"(?:\r\n){2,}|\n{2,}|\r{2,}")
_LINE = re.compile(rb"\r\n|\n|\r")


def event_data(stream: bytes) -> list[bytes]:
    """The data of the events of a stream (WHATWG, "Server-sent events"), without the end mark that
    vendors of models send."""
    events = []
    blocks = _END.split(stream.removeprefix(b"\xef\xbb\xbf"))
    for block in paced_if_many(blocks, len(stream)):
        lines = [line[5:] for line in _LINE.split(block) if line.startswith(b"data:")]
        data = b"\n".join(line.removeprefix(b" ") for line in lines)
        if lines and data != b"[DONE]":
            events.append(data)
    return events


def stream_text(stream: bytes) -> str:
    """The text of a stream of a chat, joined; of any other stream the data of its events, each on a
    line."""
    data = event_data(stream)
    events = paced_if_many(data, len(stream))
    text = "".join(piece for event in events for piece in _pieces(event))
    return text or b"\n".join(data).decode("utf-8", "replace")


def _pieces(data: bytes) -> Iterator[str]:
    """The text in one event of a chat, in the formats of the vendors that routes may have."""
    try:
        event: Any = orjson.loads(data)
    except orjson.JSONDecodeError:
        return
    if not isinstance(event, dict):
        return
    for choice in objects_of(event.get("choices")):  # Chat Completions, and Completions before
        delta = choice.get("delta")
        yield from _texts(delta if isinstance(delta, dict) else choice, "content", "text")
    delta = event.get("delta")
    if isinstance(delta, dict):  # Messages
        yield from _texts(delta, "text")
    elif event.get("type") == "response.output_text.delta":  # Responses
        yield from _texts(event, "delta")
    for candidate in objects_of(event.get("candidates")):  # generateContent
        content = candidate.get("content")
        for part in objects_of(content.get("parts") if isinstance(content, dict) else None):
            if not part.get("thought"):
                yield from _texts(part, "text")


def _texts(node: dict[str, Any], *names: str) -> Iterator[str]:
    yield from (text for name in names if isinstance(text := node.get(name), str))
