"""The mock's messages over a WebSocket, without sockets. ONE FILE OR FOLDER = ONE CONVERSATION.

A dialect names its own as `mock_conversation`: a module here with `open_conversation`. Every other
dialect gets `echo`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FunctionType
from typing import NamedTuple, Protocol

from engine.relay.websocket.endpoint import Message
from engine.values.discovery import Plugins


class MockMessage(NamedTuple):
    """A message of the mock. After a `piece` of a stream the mock pauses, and the caller may
    interrupt it."""

    message: Message
    piece: bool = False


class Conversation(Protocol):
    """The mock's side of one session. `protocol` is the accepted subprotocol, "" for none."""

    protocol: str

    def opening(self) -> Iterable[MockMessage]:
        """The first messages of the mock."""

    def receive(self, message: Message) -> Iterator[MockMessage]:
        """The answer to a message of the caller."""

    def fail(self) -> Iterable[MockMessage]:
        """The messages of an error that the caller requested (see `faults`)."""


_CONVERSATIONS: Plugins[Callable[[str, Sequence[str]], Conversation]] = Plugins(
    __name__, "open_conversation", FunctionType
)


def open_conversation(name: str, model: str, protocols: Sequence[str]) -> Conversation:
    """A new conversation about a model, with a caller that offers these subprotocols."""
    return _CONVERSATIONS.get(name or "echo")(model, protocols)
