"""A session between two peers of a test, over real sockets and without HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import gevent
import gevent.socket

from engine.exchange.request_record import Traffic
from engine.relay.websocket.channel import Channel
from engine.relay.websocket.open_sessions import SessionLimits, Sessions
from engine.relay.websocket.session import Session
from tests.support.frames import Peer
from tests.support.waiting import PATIENCE, Deadline


class Between(NamedTuple):
    """A running session and its two ends, `caller` and `upstream`, which the test drives."""

    caller: Peer
    upstream: Peer
    sessions: Sessions
    traffic: Traffic
    running: Any
    channels: tuple[Channel, Channel]

    def over(self) -> None:
        """Wait until the session has ended. Raises its error, if any."""
        self.running.get(timeout=PATIENCE)


def pair(small: bool = False) -> tuple[Any, Any]:
    """Two connected sockets; `small` ones have small send buffers."""
    near, far = gevent.socket.socketpair()
    for sock in (near, far):
        if small:
            sock.setsockopt(gevent.socket.SOL_SOCKET, gevent.socket.SO_SNDBUF, 4096)
        sock.settimeout(PATIENCE)
    return near, far


@contextmanager
def session(
    limits: SessionLimits = SessionLimits(),  # noqa: B008 - immutable
    *,
    small: bool = False,
    extensions: tuple[Any, Any] = ((), ()),
    **more: Any,
) -> Iterator[Between]:
    """A running session, ended with the block. Raises its error, if any."""
    (near, caller), (far, upstream) = pair(small), pair(small)
    limit = limits.max_message
    channels = (
        Channel(near, client=True, limit=limit, extensions=extensions[0]),
        Channel(far, client=False, limit=limit, extensions=extensions[1]),
    )
    sessions, traffic = Sessions(), Traffic()
    new_session = Session(*channels, limits, traffic, **more)

    def run() -> None:
        try:
            sessions.run(new_session)
        finally:
            near.close()
            far.close()

    running = gevent.spawn(run)
    between = Between(
        Peer(caller, client=True),
        Peer(upstream, client=False),
        sessions,
        traffic,
        running,
        channels,
    )
    try:
        yield between
    finally:
        caller.close()
        upstream.close()
        running.get(timeout=PATIENCE)


def until(condition):
    deadline = Deadline()
    while not condition():
        assert not deadline.passed(), "it never came to that"
        gevent.sleep(0.005)
