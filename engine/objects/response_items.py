"""The items of a conversation of the Responses API, as they stand between the brackets of `input`.

Two parts of a conversation are joined, and one is known to begin another, without reading them.
"""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from engine.values.trees import Json


def join_items(*parts: bytes) -> bytes:
    """The items of several parts of a conversation."""
    return b",".join(part for part in parts if part)


def items_of(value: object) -> bytes | None:
    """The items of `input`, of which a text is a message; None for what is neither."""
    if value is None:
        return b""
    if isinstance(value, str):
        value = [{"type": "message", "role": "user", "content": value}]
    return orjson.dumps(value)[1:-1] if isinstance(value, list) else None


def output_items(output: Iterable[object]) -> bytes:
    """The items of an output as they are sent back. Reasoning without its encrypted text is left
    out: it is a reference to what the upstream may not have stored."""
    items = [item for item in output if isinstance(item, dict) and not _is_reference(item)]
    return orjson.dumps(items)[1:-1]


def _is_reference(item: Json) -> bool:
    return item.get("type") == "reasoning" and not (
        item.get("encrypted_content") or item.get("content")
    )


def whole_request(request: Json, before: bytes, new: bytes) -> bytes:
    """The JSON of a request with all items of its conversation."""
    rest = {name: value for name, value in request.items() if name != "input"}
    return b'{"input":[%b],%b' % (join_items(before, new), orjson.dumps(rest)[1:])
