"""The caller's events: which there are, what they hold, and how one is read from a message.

Source: the vendor's document, schemas RealtimeClientEvent*.
"""

from __future__ import annotations

import orjson

from engine.mock.realtime.shapes import Wrong, check
from engine.mock.realtime.version import Event

_EVENTS: dict[str, Event] = {
    "session.update": {"session*": dict},
    "conversation.item.create": {"previous_item_id": (str, None), "item*": dict},
    "conversation.item.retrieve": {"item_id*": str},
    "conversation.item.truncate": {"item_id*": str, "content_index*": int, "audio_end_ms*": int},
    "conversation.item.delete": {"item_id*": str},
    "input_audio_buffer.append": {"audio*": str},
    "input_audio_buffer.commit": {},
    "input_audio_buffer.clear": {},
    "output_audio_buffer.clear": {},
    "response.create": {"response": dict},
    "response.cancel": {"response_id": str},
}
"""What each holds beside `type` and `event_id`; what is in the objects depends on the version."""


def read(message: Event | str | bytes) -> Event:
    """A message as an event, before it is checked. Raises Wrong if it is not even an object."""
    if isinstance(message, dict):
        return message
    try:
        event = orjson.loads(message)
    except orjson.JSONDecodeError as error:
        raise Wrong("invalid_json", "The message is not JSON.") from error
    if not isinstance(event, dict):
        raise Wrong("invalid_type", "The message must be a JSON object.")
    return event


def checked(event: Event) -> str:
    """The event's name. Raises Wrong for an event that there is not, or that is not whole."""
    kind = event.get("type")
    if not isinstance(kind, str) or kind not in _EVENTS:
        raise Wrong("invalid_value", "'type' must be the name of a client event.", "type")
    check(event, {"type*": str, "event_id": str, **_EVENTS[kind]}, "")
    return kind
