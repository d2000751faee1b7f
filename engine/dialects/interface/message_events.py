"""The events of a streamed message of Claude, in its vendor's API and in Amazon's messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_OPENING_EVENTS = frozenset({"message_start", "content_block_start", "ping"})
_STREAM_EVENTS = frozenset(
    {"message_start", "content_block_start", "content_block_delta", "content_block_stop"}
    | {"message_delta", "message_stop"}
)


def has_content(document: Any) -> bool:
    """False for the events that begin a message."""
    kind = document.get("type") if isinstance(document, dict) else None
    return not isinstance(kind, str) or kind not in _OPENING_EVENTS


def ends(documents: Sequence[Any]) -> bool | None:
    """A message ends with its stop reason, or with `message_stop`."""
    events = [
        document
        for document in documents
        if isinstance(document, dict) and document.get("type") in _STREAM_EVENTS
    ]
    return any(map(_is_end, events)) if events else None


def _is_end(event: dict[str, Any]) -> bool:
    delta = event.get("delta")
    return event["type"] == "message_stop" or (
        isinstance(delta, dict) and bool(delta.get("stop_reason"))
    )
