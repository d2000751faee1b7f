"""A realtime session of the OpenAI dialect: events in JSON. Read `conversation.py` first.

A response repeats the last turn of the user: text word by word, committed audio in pieces with a
transcript.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import orjson

from engine.mock.conversations import MockMessage
from engine.mock.conversations.realtime.conversation import RealtimeConversation
from engine.relay.websocket.endpoint import Message
from engine.values.trees import Json


class Realtime:
    """A Conversation whose messages are events in JSON."""

    def __init__(self, model: str, protocols: Sequence[str]) -> None:
        self.protocol = "realtime" if "realtime" in protocols else ""
        self._conversation = RealtimeConversation(model)

    def opening(self) -> Iterable[MockMessage]:
        return map(_mock_message, self._conversation.opening())

    def receive(self, message: Message) -> Iterator[MockMessage]:
        return map(_mock_message, self._conversation.receive(message.data))

    def fail(self) -> Iterable[MockMessage]:
        return map(_mock_message, self._conversation.fail())


def _mock_message(event: Json) -> MockMessage:
    return MockMessage(Message(True, orjson.dumps(event)), str(event["type"]).endswith(".delta"))


def open_conversation(model: str, protocols: Sequence[str]) -> Realtime:
    """A session with a model; the subprotocol `realtime` is accepted."""
    return Realtime(model, protocols)
