"""The events of clients: their names and members, and reading one from a message.

Source: the vendor's document, schemas RealtimeClientEvent*, RealtimeSessionCreateRequestGA and
RealtimeResponseCreateParams. They are written as shapes, a short form of JSON Schema: a JSON type,
a frozenset of the allowed strings, a constant number, `[shape]` for an array, a dict for an object
without other members (a final `*` marks a required one), a tuple of alternatives, None for null, or
ANY.
"""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import orjson

from engine.spec.schemas.refusal_messages import explain
from engine.values.trees import Json

Event = Json

ANY: Any = object()
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object"}


class Invalid(Exception):
    """An invalid event: `code` and `param` of the error event."""

    def __init__(self, code: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.param = param


class EventShape:
    """A compiled shape."""

    def __init__(self, shape: object) -> None:
        self._validator = jsonschema_rs.Draft202012Validator(_schema(shape))

    def check(self, value: object, at: str = "") -> None:
        """Raises Invalid unless `value`, at the place `at`, has the shape."""
        if not self._validator.is_valid(value):
            refusal = explain(self._validator, value, at)
            raise Invalid(refusal.code, refusal.message, refusal.param or None)


def _schema(shape: Any) -> Json:
    if shape is ANY:
        return {}
    if shape is None:
        return {"type": "null"}
    if isinstance(shape, type):
        return {"type": _TYPES[shape]}
    if isinstance(shape, int):
        return {"const": shape}
    if isinstance(shape, frozenset):
        return {"type": "string", "enum": sorted(shape)}
    if isinstance(shape, list):
        return {"type": "array", "items": _schema(shape[0])}
    if isinstance(shape, tuple):
        return {"anyOf": [_schema(alternative) for alternative in shape]}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {name.rstrip("*"): _schema(member) for name, member in shape.items()},
        "required": [name[:-1] for name in shape if name.endswith("*")],
    }


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

SESSION = EventShape(
    {
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
)
"""The settings of a session that `session.update` may change."""

RESPONSE = EventShape(
    {
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
)
"""The settings of one response in `response.create`."""

_MEMBERS: dict[str, Event] = {
    "session.update": {"session*": dict},
    "conversation.item.create": {"previous_item_id": (str, None), "item*": dict},
    "conversation.item.retrieve": {"item_id*": str},
    "conversation.item.truncate": {"item_id*": str, "content_index*": int, "audio_end_ms*": int},
    "conversation.item.delete": {"item_id*": str},
    "input_audio_buffer.append": {"audio*": str},
    "input_audio_buffer.commit": {},
    "input_audio_buffer.clear": {},
    "response.create": {"response": dict},
    "response.cancel": {"response_id": str},
}
"""The members of each event, in addition to `type` and `event_id`."""
_EVENTS = {
    name: EventShape({"type*": str, "event_id": str, **members})
    for name, members in _MEMBERS.items()
}


def read(message: str | bytes) -> Event:
    """The event in a message, not validated. Raises Invalid for a message that is not an object."""
    try:
        event = orjson.loads(message)
    except orjson.JSONDecodeError as error:
        raise Invalid("invalid_json", "The message is not JSON.") from error
    if not isinstance(event, dict):
        raise Invalid("invalid_type", "The message must be a JSON object.")
    return event


def check_event(event: Event) -> str:
    """Validate an event, and return its name. Raises Invalid."""
    kind = event.get("type")
    if not isinstance(kind, str) or kind not in _EVENTS:
        raise Invalid("invalid_value", "'type' must be the name of a client event.", "type")
    _EVENTS[kind].check(event)
    return kind
