"""A realtime session as the OpenAI dialect has it: events in JSON. Read `conversation.py` first.

A response repeats the last turn of the user: text word by word, committed audio in pieces with a
transcript.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from engine.mock.conversations import Utterance
from engine.mock.conversations.realtime.conversation import RealtimeConversation
from engine.relay.websocket.messages import Message


class Realtime:
    """A Conversation whose messages are events in JSON."""

    def __init__(self, model: str, protocols: Sequence[str]) -> None:
        self.protocol = "realtime" if "realtime" in protocols else ""
        self._conversation = RealtimeConversation(model)

    def opening(self) -> Iterable[Utterance]:
        return map(_utterance, self._conversation.opening())

    def receive(self, message: Message) -> Iterator[Utterance]:
        return map(_utterance, self._conversation.receive(message.data))

    def fail(self) -> Iterable[Utterance]:
        return map(_utterance, self._conversation.fail())


def _utterance(event: dict[str, Any]) -> Utterance:
    return Utterance(Message(True, orjson.dumps(event)), str(event["type"]).endswith(".delta"))


def open_conversation(model: str, protocols: Sequence[str]) -> Realtime:
    """A session with a model; the subprotocol `realtime` is accepted."""
    return Realtime(model, protocols)
