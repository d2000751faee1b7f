"""The events of a streamed message of Claude, in its vendor's API and in Amazon's messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson

from engine.dialects.interface.streams import objects_in, write_stream
from engine.values.trees import Json

_OPENING_EVENTS = frozenset({"message_start", "content_block_start", "ping"})
_STREAM_EVENTS = frozenset(
    {"message_start", "content_block_start", "content_block_delta", "content_block_stop"}
    | {"message_delta", "message_stop"}
)


def has_content(document: object) -> bool:
    """False for the events that begin a message."""
    kind = document.get("type") if isinstance(document, dict) else None
    return not isinstance(kind, str) or kind not in _OPENING_EVENTS


def ends(documents: Sequence[object]) -> bool | None:
    """A message ends with its stop reason, or with `message_stop`."""
    events = [
        document
        for document in documents
        if isinstance(document, dict) and document.get("type") in _STREAM_EVENTS
    ]
    return any(map(_is_end, events)) if events else None


def _is_end(event: Json) -> bool:
    delta = event.get("delta")
    return event["type"] == "message_stop" or (
        isinstance(delta, dict) and bool(delta.get("stop_reason"))
    )


def events_of(answer: object) -> bytes:
    """The server-sent events of a whole message, `b""` of any other answer."""
    if not isinstance(answer, dict) or answer.get("type") != "message":
        return b""
    return write_stream((event["type"], event) for event in _events(answer))


def _events(message: Json) -> Iterator[Json]:
    stop = {name: message.get(name) for name in ("stop_reason", "stop_sequence")}
    usage = message.get("usage") or {"input_tokens": 0, "output_tokens": 0}
    head = {**message, "content": [], **dict.fromkeys(stop), "usage": usage}
    yield {"type": "message_start", "message": head}
    for index, block in enumerate(objects_in(message.get("content"))):
        head, deltas = _split(block)
        yield {"type": "content_block_start", "index": index, "content_block": head}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": stop, "usage": usage}
    yield {"type": "message_stop"}


def _split(block: Json) -> tuple[Json, list[Json]]:
    """A block as it begins, and the deltas that complete it."""
    head = dict(block)
    citations = objects_in(head.pop("citations", None))
    deltas = [{"type": "citations_delta", "citation": citation} for citation in citations]
    for member in ("text", "thinking", "signature"):
        if isinstance(head.get(member), str):
            deltas.append({"type": f"{member}_delta", member: head[member]})
            head[member] = ""
    if isinstance(head.get("input"), dict):
        text = orjson.dumps(head["input"]).decode()
        deltas.append({"type": "input_json_delta", "partial_json": text})
        head["input"] = {}
    return head, deltas
