"""Whether an event of a realtime session is one, by the official SDK's types."""

from __future__ import annotations

from typing import Any, get_args

import pydantic
from openai.types.beta.realtime.realtime_server_event import RealtimeServerEvent as BetaServerEvent
from openai.types.realtime.realtime_server_event import RealtimeServerEvent
from openai.types.realtime.realtime_session_create_response import RealtimeSessionCreateResponse

_NOT_IN_BETA_TYPES = {"image_tokens", "cached_tokens_details", "expires_at", "object", "name"}
_NOT_IN_SESSION_EVENTS = {"id", "object", "expires_at"}
"""What the vendor's document has in an event, and the SDK's type of it has not."""


def _adapters(union: Any) -> dict[str, pydantic.TypeAdapter[Any]]:
    """An adapter for each event, by name: a union's smart choice would hide what is wrong."""
    kinds = get_args(get_args(union)[0])
    return {
        get_args(kind.model_fields["type"].annotation)[0]: pydantic.TypeAdapter(kind)
        for kind in kinds
    }


_SESSION = pydantic.TypeAdapter(RealtimeSessionCreateResponse)
_GA, _BETA = _adapters(RealtimeServerEvent), _adapters(BetaServerEvent)


def valid(event: dict[str, Any], beta: bool = False) -> str:
    """The event's name. Fails unless the SDK's type takes it strictly and knows all of it."""
    adapters = _BETA if beta else _GA
    assert event["type"] in adapters, f"there is no event {event['type']}"
    made = adapters[event["type"]].validate_python(event, strict=True)
    excused = _NOT_IN_BETA_TYPES if beta else set()
    if not beta and "session" in event:
        session = _SESSION.validate_python(event["session"], strict=True)
        assert _unknown(session, "") == []
        excused = _NOT_IN_SESSION_EVENTS
    unknown = set(_unknown(made, "")) - excused
    assert unknown == set(), f"{event['type']}: {unknown}"
    return str(event["type"])


def _unknown(value: Any, name: str) -> list[str]:
    """The names of members that no type of the SDK has, at any depth."""
    if isinstance(value, list):
        return [found for element in value for found in _unknown(element, name)]
    if not isinstance(value, pydantic.BaseModel):
        return []
    below = [_unknown(getattr(value, field), field) for field in type(value).model_fields]
    return [*(value.model_extra or {}), *(found for names in below for found in names)]
