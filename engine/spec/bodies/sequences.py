"""Sequential media types: JSON Lines, JSON text sequences and server-sent events, as OpenAPI 3.2
describes them: an array of items.

An event is an object of its fields: `data`, `event` and `id` are texts, `retry` is an integer (HTML
standard, "Interpreting an event stream").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import orjson

from engine.values.errors import Malformed
from engine.values.trees import Json

_LINE_END = re.compile(rb"\r\n|\n|\r")
_RECORD = b"\x1e"
_BOM = b"\xef\xbb\xbf"
_DIGITS = re.compile("[0-9]{1,18}")


def parse_sequence(kind: str, data: bytes, *, truncated: bool = False) -> list[object]:
    """The items of a body of this kind. Of one that is `truncated`, the last item is left out.
    Raises Malformed with the number of an item that is not JSON."""
    if kind == "events":
        return list(_events(data, truncated))
    texts = _records(data) if kind == "records" else data.split(b"\n")
    texts = texts[:-1] if truncated else texts
    return [_json(text, index) for index, text in enumerate(texts, 1) if text.strip()]


def _json(text: bytes, number: int) -> object:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Malformed(f"item {number}: not valid JSON: {error}") from error


def _records(data: bytes) -> list[bytes]:
    """The texts of a JSON text sequence (RFC 7464), each after a record separator."""
    first, *texts = data.split(_RECORD)
    if first.strip():
        raise Malformed("the first item has no record separator (0x1E) before it")
    return texts


def _events(data: bytes, truncated: bool) -> Iterator[Json]:
    """The events with data; comments, unknown fields and an event that does not end are ignored."""
    lines = _LINE_END.split(data.removeprefix(_BOM))
    event: Json = {}
    for line in lines[:-1] if truncated else [*lines, b""]:
        if line:
            _add_field(event, line)
            continue
        if "data" in event:
            yield event | {"data": "\n".join(event["data"])}
        event = {}


def _add_field(event: Json, line: bytes) -> None:
    name, _, raw = line.partition(b":")
    value = raw.removeprefix(b" ").decode("utf-8", "replace")
    if name == b"data":
        event.setdefault("data", []).append(value)
    elif name in (b"event", b"id"):
        event[name.decode()] = value
    elif name == b"retry" and _DIGITS.fullmatch(value):
        event["retry"] = int(value)


def write_sequence(kind: str, items: Iterable[object]) -> bytes:
    """The body of these items, as an example of a document has them."""
    texts = map(_event_text if kind == "events" else orjson.dumps, items)
    if kind == "records":
        return b"".join(_RECORD + text + b"\n" for text in texts)
    end = b"\n\n" if kind == "events" else b"\n"
    return b"".join(text + end for text in texts)


def _event_text(event: object) -> bytes:
    fields = event if isinstance(event, dict) else {"data": event}
    lines = [
        f"{name}: {line}"
        for name, value in fields.items()
        for line in (value if isinstance(value, str) else orjson.dumps(value).decode()).split("\n")
    ]
    return "\n".join(lines).encode()
