"""The mock's side of a session of Gemini's Live API: it says back what it was told, in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from engine.mock.conversations import MockMessage
from engine.relay.websocket.endpoint import Message

_PIECE = 8
"""Characters of a piece of an answer."""


class Live:
    """A Conversation. The first message is the `setup`, whose model the answers name."""

    protocol = ""

    def __init__(self) -> None:
        self._setup: dict[str, Any] | None = None

    def opening(self) -> Iterable[MockMessage]:
        return ()

    def receive(self, message: Message) -> Iterator[MockMessage]:
        try:
            document = orjson.loads(message.data)
        except orjson.JSONDecodeError:
            document = None
        if not isinstance(document, dict):
            return
        if self._setup is None:
            self._setup = document.get("setup") or {}
            yield _message({"setupComplete": {"sessionId": "mock"}})
        elif text := _text(document):
            yield from self._answer(text)

    def fail(self) -> Iterable[MockMessage]:
        return ()

    def _answer(self, text: str) -> Iterator[MockMessage]:
        for at in range(0, len(text), _PIECE):
            parts = [{"text": text[at : at + _PIECE]}]
            turn = {"modelTurn": {"role": "model", "parts": parts}}
            yield _message({"serverContent": turn}, piece=True)
        count = len(text.split())
        details = [{"modality": "TEXT", "tokenCount": count}]
        usage = {
            "promptTokenCount": count,
            "responseTokenCount": count,
            "totalTokenCount": 2 * count,
            "promptTokensDetails": details,
            "responseTokensDetails": details,
        }
        complete = {"generationComplete": True, "turnComplete": True}
        yield _message({"serverContent": complete, "usageMetadata": usage})


def open_conversation(model: str, protocols: Sequence[str]) -> Live:
    """A new session; its model stands in the setup."""
    return Live()


def _text(document: dict[str, Any]) -> str:
    """What the caller says: the text of its last turn, or of its realtime input."""
    content = document.get("clientContent", document.get("client_content"))
    realtime = document.get("realtimeInput", document.get("realtime_input"))
    if isinstance(realtime, dict):
        return str(realtime.get("text") or "")
    turns = content.get("turns") if isinstance(content, dict) else None
    parts = turns[-1].get("parts", []) if turns else []
    return "".join(str(part.get("text", "")) for part in parts)


def _message(document: dict[str, Any], *, piece: bool = False) -> MockMessage:
    """A message as the vendor sends it: JSON in a binary frame."""
    return MockMessage(Message(text=False, data=orjson.dumps(document)), piece)
