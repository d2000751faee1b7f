"""An echo: every message comes back unchanged. The first subprotocol offered is accepted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from engine.mock.conversations import MockMessage
from engine.relay.websocket.endpoint import Message


class Echo:
    """A Conversation that repeats every message."""

    def __init__(self, protocols: Sequence[str]) -> None:
        self.protocol = protocols[0] if protocols else ""

    def opening(self) -> Iterable[MockMessage]:
        return ()

    def receive(self, message: Message) -> Iterator[MockMessage]:
        yield MockMessage(message)

    def fail(self) -> Iterable[MockMessage]:
        return ()


def open_conversation(model: str, protocols: Sequence[str]) -> Echo:
    """An echo; the model has no effect."""
    return Echo(protocols)
