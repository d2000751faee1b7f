"""An echo: every message comes back unchanged. The first subprotocol offered is accepted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from engine.mock.conversations import Utterance
from engine.relay.websocket.messages import Message


class Echo:
    """A Conversation that repeats every message."""

    def __init__(self, protocols: Sequence[str]) -> None:
        self.protocol = protocols[0] if protocols else ""

    def opening(self) -> Iterable[Utterance]:
        return ()

    def receive(self, message: Message) -> Iterator[Utterance]:
        yield Utterance(message)

    def fail(self) -> Iterable[Utterance]:
        return ()


def open_conversation(model: str, protocols: Sequence[str]) -> Echo:
    """An echo, whatever the model."""
    return Echo(protocols)
