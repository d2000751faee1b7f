"""The messages of an upstream over a WebSocket. They are read also between two requests, so that
its pings are answered, and its close is known before the next request."""

from __future__ import annotations

from collections import deque

import gevent
from gevent.event import Event

from engine.exchange.member_protocols import Socket
from engine.relay.websocket.channel import Channel, Stopped
from engine.relay.websocket.close_frames import close_both
from engine.relay.websocket.endpoint import Closed, Endpoint
from engine.upstream.client.failures import Reset

_MAX_WAITING = 256 * 1024
"""Bytes of messages that wait to be relayed; while there are more, nothing is read."""


class MessageStream:
    """One socket. `has_ended`: the upstream has closed it, or `close` was called."""

    def __init__(self, channel: Channel, sock: Socket) -> None:
        self._channel, self._sock = channel, sock
        self._messages: deque[bytes] = deque()
        self._waiting = 0  # bytes of the messages
        self._arrival, self._room = Event(), Event()
        self.has_ended = False
        self._reader = gevent.spawn(self._read)

    def send(self, message: bytes) -> None:
        """Send a text message. Raises Reset if the socket has ended."""
        if self.has_ended or self._channel.outbox.broken:
            raise Reset
        self._channel.send_text(message)

    def take(self, seconds: float) -> bytes | None:
        """The next message, after a wait of at most so many seconds; None if none came. Raises
        Reset when the socket has ended."""
        if not self._messages and not self.has_ended:
            self._arrival.clear()
            self._arrival.wait(seconds)
        if self._messages:
            message = self._messages.popleft()
            self._waiting -= len(message)
            if self._waiting <= _MAX_WAITING:
                self._room.set()
            return message
        if self.has_ended:
            raise Reset
        return None

    @property
    def has_message(self) -> bool:
        """Whether `take` would return one at once."""
        return bool(self._messages)

    def close(self) -> None:
        """Close the socket. Does not wait for the upstream's close frame."""
        self.has_ended = True
        self._channel.close(close_both(1000, "").upstream)
        self._reader.kill()  # no greenlet may wait on a socket that its owner closes
        self._channel.outbox.drop()
        self._sock.close()
        self._arrival.set()

    def _read(self) -> None:
        endpoint = Endpoint(self._channel)
        try:
            while True:
                self._add(endpoint.receive().data)
        except (Closed, Stopped):
            pass
        finally:
            self.has_ended = True
            self._channel.outbox.drop()
            self._sock.close()  # it may be long until somebody asks for more
            self._arrival.set()

    def _add(self, message: bytes) -> None:
        self._messages.append(message)
        self._waiting += len(message)
        self._arrival.set()
        if self._waiting > _MAX_WAITING:
            self._room.clear()
            self._room.wait()
