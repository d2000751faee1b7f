"""A session of the Responses API over a pair of sockets, without a gateway around it."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gevent
import gevent.socket

from engine.exchange.request_record import Traffic
from engine.relay.websocket.channel import Channel
from engine.relay.websocket.open_sessions import SessionLimits
from engine.sockets.lanes import Run
from engine.sockets.session import ClientOutlet, ResponsesSession
from tests.support.frames import TEXT, Peer

Json = dict[str, Any]


class Conversation:
    """The `peer` is the client of a `session`, whose `run` has been started."""

    def __init__(
        self,
        limits: SessionLimits,
        turns: Callable[[ClientOutlet], Run],
        sock: Any,
        other: Any,
        run: Callable[[ResponsesSession], None],
    ) -> None:
        self.traffic = Traffic()
        channel = Channel(sock, client=True, limit=limits.max_message)
        self.session = ResponsesSession(channel, limits, self.traffic, turns)
        self.running = gevent.spawn(run, self.session)
        self.peer = Peer(other, client=True)

    def create(self, **members: Any) -> None:
        self.peer.text(json.dumps({"type": "response.create", **members}))

    def next(self) -> Json:
        """The next message."""
        frame = self.peer.next()
        assert frame.opcode == TEXT, frame
        message: Json = json.loads(frame.data)
        return message

    def closed(self) -> tuple[int | None, str]:
        """The close frame, and the end of the session."""
        closed = self.peer.closed()
        self.peer.close(closed[0])
        self.peer.sock.close()
        self.running.get(timeout=10)
        return closed


@contextmanager
def conversation(
    turns: Callable[[ClientOutlet], Run],
    limits: SessionLimits | None = None,
    run: Callable[[ResponsesSession], None] = ResponsesSession.run,
) -> Iterator[Conversation]:
    """A session that `run` runs, and its client."""
    mine, other = gevent.socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    other.settimeout(10)
    made = Conversation(limits or SessionLimits(), turns, mine, other, run)
    try:
        yield made
    finally:
        other.close()
        made.running.kill()
        mine.close()
