"""Validates events of a realtime session by the official SDK's types."""

from __future__ import annotations

from typing import Any, get_args

import pydantic
from openai.types.realtime.realtime_server_event import RealtimeServerEvent
from openai.types.realtime.realtime_session_create_response import RealtimeSessionCreateResponse

_NOT_IN_SESSION_EVENTS = {"id", "object", "expires_at"}
"""Members that the vendor's document has in an event, and the SDK's type has not."""


def _adapters(union: Any) -> dict[str, pydantic.TypeAdapter[Any]]:
    """An adapter for each event, by name: the union would accept an event of another type."""
    kinds = get_args(get_args(union)[0])
    return {
        get_args(kind.model_fields["type"].annotation)[0]: pydantic.TypeAdapter(kind)
        for kind in kinds
    }


_SESSION = pydantic.TypeAdapter(RealtimeSessionCreateResponse)
_EVENTS = _adapters(RealtimeServerEvent)


def valid(event: dict[str, Any]) -> str:
    """The event's name. Fails unless the SDK's type accepts it strictly, and all members."""
    assert event["type"] in _EVENTS, f"there is no event {event['type']}"
    typed = _EVENTS[event["type"]].validate_python(event, strict=True)
    excused: set[str] = set()
    if "session" in event:
        session = _SESSION.validate_python(event["session"], strict=True)
        assert _unknown(session, "") == []
        excused = _NOT_IN_SESSION_EVENTS
    unknown = set(_unknown(typed, "")) - excused
    assert unknown == set(), f"{event['type']}: {unknown}"
    return str(event["type"])


def _unknown(value: Any, name: str) -> list[str]:
    """The names of members that no type of the SDK has, at any depth."""
    if isinstance(value, list):
        return [member for element in value for member in _unknown(element, name)]
    if not isinstance(value, pydantic.BaseModel):
        return []
    below = [_unknown(getattr(value, field), field) for field in type(value).model_fields]
    return [*(value.model_extra or {}), *(member for names in below for member in names)]
