"""What the mock says over a WebSocket: an echo, or its dialect's conversation. No sockets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import orjson

from engine.mock.realtime import Conversation
from engine.relay.websocket.messages import Message

_BETA_PROTOCOL = "openai-beta.realtime-v1"
_BETA_HEADER = "realtime=v1"


class Said(NamedTuple):
    """A message of the mock's. After a `piece` of a stream it pauses, and may be interrupted."""

    message: Message
    piece: bool = False


class Talk(Protocol):
    """One session's words. `fail` is what is said when the mock is asked for an error."""

    protocol: str

    def opening(self) -> Iterable[Said]: ...
    def receive(self, message: Message) -> Iterator[Said]: ...
    def fail(self) -> Iterable[Said]: ...


class Echo:
    """Every message comes back as it was. It agrees to the first subprotocol offered."""

    def __init__(self, offers: Sequence[str]) -> None:
        self.protocol = offers[0] if offers else ""

    def opening(self) -> Iterable[Said]:
        return ()

    def receive(self, message: Message) -> Iterator[Said]:
        yield Said(message)

    def fail(self) -> Iterable[Said]:
        return ()


class Realtime:
    """A realtime conversation, whose messages are events in JSON."""

    def __init__(self, model: str, offers: Sequence[str], environ: Mapping[str, Any]) -> None:
        self.protocol = "realtime" if "realtime" in offers else ""
        said = str(environ.get("HTTP_OPENAI_BETA", "")).split(",")
        beta = _BETA_PROTOCOL in offers or _BETA_HEADER in (word.strip() for word in said)
        self._conversation = Conversation(model, beta=beta)

    def opening(self) -> Iterable[Said]:
        return map(_said, self._conversation.opening())

    def receive(self, message: Message) -> Iterator[Said]:
        return map(_said, self._conversation.receive(message.data))

    def fail(self) -> Iterable[Said]:
        return map(_said, self._conversation.fail())


def _said(event: dict[str, Any]) -> Said:
    return Said(Message(True, orjson.dumps(event)), str(event["type"]).endswith(".delta"))


def talk(dialect: str, model: str, offers: Sequence[str], environ: Mapping[str, Any]) -> Talk:
    """The conversation that a dialect has over a WebSocket, an echo if it has none."""
    if dialect == "openai":
        return Realtime(model, offers, environ)
    return Echo(offers)
