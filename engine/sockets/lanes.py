"""When the requests of a socket begin: in their order within a lane, lanes side by side."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import gevent
from gevent import Greenlet, GreenletExit
from gevent.lock import Semaphore

from engine.sockets.messages import Create
from engine.values.errors import GatewayError

IN_FLIGHT = 16
"""Requests that a socket has under way at one time; further ones wait, as with the vendor."""

NAMED_LANES = 32
"""Lanes with a name that a socket may open in its life."""

WAITING = 64
"""Requests that wait at most, in all lanes together."""

Run = Callable[[Create], None]
"""Answers one request; in a greenlet of its own."""


class Request(NamedTuple):
    """A request that waits, with the bytes of its message."""

    create: Create
    size: int


class Lanes:
    """The requests of a socket. `run` answers one, `on_idle` is called when none is left.

    At most `max_waiting` bytes of messages wait.
    """

    def __init__(self, run: Run, max_waiting: int, on_idle: Callable[[], None]) -> None:
        self._run, self._max_waiting, self._on_idle = run, max_waiting, on_idle
        self._slots = Semaphore(IN_FLIGHT)
        self._names: set[str] = set()
        self._waiting: dict[str, deque[Request]] = {}  # of the lanes at work
        self._greenlets: set[Greenlet[..., None]] = set()
        self._count = self._bytes = 0  # of the requests that wait

    @property
    def is_idle(self) -> bool:
        """Whether no request is under way or waits."""
        return not self._waiting

    def add(self, create: Create, size: int) -> None:
        """Begin a request of a message of `size` bytes, now or when it is its turn. Raises
        GatewayError 400 for one lane too many, 429 for one request too many."""
        lane = create.stream_id
        if lane and lane not in self._names:
            if len(self._names) >= NAMED_LANES:
                raise _too_many_lanes()
            self._names.add(lane)
        if self._count >= WAITING or (self._count and self._bytes + size > self._max_waiting):
            raise _too_many_requests()
        self._count += 1
        self._bytes += size
        requests = self._waiting.get(lane)
        if requests is not None:
            requests.append(Request(create, size))
            return
        self._waiting[lane] = deque((Request(create, size),))
        greenlet = gevent.spawn(self._work, lane)
        self._greenlets.add(greenlet)
        greenlet.rawlink(self._greenlets.discard)

    def _work(self, lane: str) -> None:
        """Answer the requests of a lane, one after the other."""
        requests = self._waiting[lane]
        try:
            while requests:
                with self._slots:
                    if not requests:  # they were dropped while this lane waited for a slot
                        return
                    request = requests.popleft()
                    self._count -= 1
                    self._bytes -= request.size
                    self._run(request.create)
        finally:
            self._count -= len(requests)
            self._bytes -= sum(request.size for request in requests)
            del self._waiting[lane]
            if not self._waiting:
                self._on_idle()

    def drop_waiting(self) -> list[Create]:
        """The requests that wait, which are not answered."""
        creates = [request.create for lane in self._waiting.values() for request in lane]
        for lane in self._waiting.values():
            lane.clear()
        self._count = self._bytes = 0
        return creates

    def join(self, seconds: float) -> None:
        """Wait for the requests under way, at most so long."""
        gevent.joinall(list(self._greenlets), seconds)

    def cancel(self, cause: type[GreenletExit], seconds: float) -> None:
        """End all requests with an exception, and wait at most so long until they have ended."""
        self.drop_waiting()
        gevent.killall(list(self._greenlets), cause, block=True, timeout=seconds)


def _too_many_lanes() -> GatewayError:
    message = (
        f"A connection may use {NAMED_LANES} values of 'stream_id'. Use one of them again, or open "
        "another connection."
    )
    return GatewayError(400, "websocket_stream_limit_reached", message, param="stream_id")


def _too_many_requests() -> GatewayError:
    message = (
        f"{WAITING} requests, or too many bytes of them, already wait on this connection. Wait for "
        "an answer before you send another one."
    )
    return GatewayError(429, "websocket_queue_limit_reached", message)
