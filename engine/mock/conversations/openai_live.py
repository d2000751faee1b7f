"""The mock's side of a session of OpenAI's Live API: it starts, counts seconds, and ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from engine.mock.conversations import MockMessage
from engine.relay.websocket.endpoint import Message

_SECONDS = 2
"""The seconds that each message of the caller takes."""


class OpenAILive:
    """A Conversation. The first message is `session.start`, whose model the session has."""

    def __init__(self, protocols: Sequence[str]) -> None:
        self.protocol = "realtime" if "realtime" in protocols else ""
        self._session: dict[str, Any] | None = None
        self._seconds = self._events = 0

    def opening(self) -> Iterable[MockMessage]:
        return ()

    def receive(self, message: Message) -> Iterator[MockMessage]:
        try:
            event = orjson.loads(message.data)
        except orjson.JSONDecodeError:
            event = None
        kind = event.get("type") if isinstance(event, dict) else None
        if self._session is None and kind == "session.start":
            self._session = {"id": "live_mock", **(event.get("session") or {})}
            yield self._event("session.started", session=self._session)
        elif self._session is None:
            yield self._error("The first event is session.start.")
        elif kind == "session.close":
            closed = {"reason": "close_requested", "session": self._session}
            yield self._event("session.closed", **closed, usage={"seconds": self._seconds})
        else:
            self._seconds += _SECONDS
            yield self._event("session.usage.updated", usage={"seconds": self._seconds})

    def fail(self) -> Iterable[MockMessage]:
        return [self._error("The mock was asked for an error.")]

    def _error(self, message: str) -> MockMessage:
        error = {"type": "invalid_request_error", "code": "invalid_event", "message": message}
        return self._event("error", error=error)

    def _event(self, kind: str, **members: Any) -> MockMessage:
        self._events += 1
        event = {"type": kind, "event_id": f"event_{self._events}", **members}
        return MockMessage(Message(text=True, data=orjson.dumps(event)))


def open_conversation(model: str, protocols: Sequence[str]) -> OpenAILive:
    """A new session; its model stands in its first message."""
    return OpenAILive(protocols)
