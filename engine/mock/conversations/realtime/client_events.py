"""The events of clients: their names, their members, and how one is read from a message.

Source: the vendor's document, schemas RealtimeClientEvent*, RealtimeSessionCreateRequestGA and
RealtimeResponseCreateParams. See `shapes.py` for the notation.
"""

from __future__ import annotations

from typing import Any

import orjson

from engine.mock.conversations.realtime.shapes import ANY, Invalid, check

Event = dict[str, Any]

_TEXT_OR_AUDIO = [frozenset({"text", "audio"})]
_LIMIT = (int, frozenset({"inf"}))
_TRACING = (
    None,
    frozenset({"auto"}),
    {"workflow_name": str, "group_id": str, "metadata": ANY},
)
_TURN_DETECTION = (
    None,
    {
        "type*": frozenset({"server_vad"}),
        "threshold": float,
        "prefix_padding_ms": int,
        "silence_duration_ms": int,
        "create_response": bool,
        "interrupt_response": bool,
        "idle_timeout_ms": (int, None),
    },
    {
        "type*": frozenset({"semantic_vad"}),
        "eagerness": frozenset({"low", "medium", "high", "auto"}),
        "create_response": bool,
        "interrupt_response": bool,
    },
)
_NOISE_REDUCTION = (None, {"type*": frozenset({"near_field", "far_field"})})
_TRANSCRIPTION = (None, {"model": str, "language": str, "prompt": str})
_TOOL = {"type": frozenset({"function"}), "name": str, "description": str, "parameters": ANY}
_CHOICE = (
    frozenset({"none", "auto", "required"}),
    {"type*": frozenset({"function"}), "name*": str},
)
_FORMAT = (
    {"type*": frozenset({"audio/pcm"}), "rate": 24000},
    {"type*": frozenset({"audio/pcmu", "audio/pcma"})},
)
_OUTPUT = {"format": _FORMAT, "voice": str}

SESSION = {
    "type*": frozenset({"realtime"}),
    "model": str,
    "output_modalities": _TEXT_OR_AUDIO,
    "instructions": str,
    "audio": {
        "input": {
            "format": _FORMAT,
            "transcription": _TRANSCRIPTION,
            "noise_reduction": _NOISE_REDUCTION,
            "turn_detection": _TURN_DETECTION,
        },
        "output": {**_OUTPUT, "speed": float},
    },
    "include": [frozenset({"item.input_audio_transcription.logprobs"})],
    "tracing": _TRACING,
    "tools": [_TOOL],
    "tool_choice": _CHOICE,
    "reasoning": {"effort": frozenset({"minimal", "low", "medium", "high", "xhigh"})},
    "max_output_tokens": _LIMIT,
    "truncation": frozenset({"auto", "disabled"}),
}
"""The settings of a session that `session.update` may change."""

RESPONSE = {
    "instructions": str,
    "tools": [_TOOL],
    "metadata": (None, dict),
    "conversation": str,
    "input": [dict],
    "output_modalities": _TEXT_OR_AUDIO,
    "audio": {"output": _OUTPUT},
    "tool_choice": _CHOICE,
    "max_output_tokens": _LIMIT,
}
"""The settings of one response in `response.create`."""

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
"""The members of each beside `type` and `event_id`."""


def read(message: Event | str | bytes) -> Event:
    """The event in a message, unchecked. Raises Invalid for a message that is not an object."""
    if isinstance(message, dict):
        return message
    try:
        event = orjson.loads(message)
    except orjson.JSONDecodeError as error:
        raise Invalid("invalid_json", "The message is not JSON.") from error
    if not isinstance(event, dict):
        raise Invalid("invalid_type", "The message must be a JSON object.")
    return event


def checked(event: Event) -> str:
    """The name of a valid event. Raises Invalid for any other."""
    kind = event.get("type")
    if not isinstance(kind, str) or kind not in _EVENTS:
        raise Invalid("invalid_value", "'type' must be the name of a client event.", "type")
    check(event, {"type*": str, "event_id": str, **_EVENTS[kind]}, "")
    return kind
