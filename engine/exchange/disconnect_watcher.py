"""Detects that a caller has disconnected while a greenlet waits for an upstream.

One greenlet per worker polls the sockets of all callers twice a second, without waiting. A greenlet
that waits for a caller who has disconnected gets AbortConnection.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol

import gevent
from gevent.monkey import get_original

from engine.values.errors import AbortConnection, AbortReason

INTERVAL = 0.5
"""Seconds between two polls."""

_DISCONNECTED = 0x2000 | 0x0008 | 0x0010  # POLLRDHUP, POLLERR, POLLHUP
_poll = get_original("select", "poll")


class _Disconnected(BaseException):
    """Wakes a waiting greenlet. Not AbortConnection: that is an OSError, which the code that uses a
    socket would take for an error of the socket, and retry."""


class ReadableResponse(Protocol):
    """A response whose body is read in pieces."""

    def read(self, on_data: Callable[[bytes], None] | None, beat: float | None, /) -> bytes: ...


class HasDescriptor(Protocol):
    """The caller's connection, or a socket."""

    def fileno(self) -> int: ...


class DisconnectWatcher:
    """The `watches` of callers. Several may be of one caller: of the calls from inside that are
    made for one request."""

    def __init__(self) -> None:
        self.watches: set[CallerWatch] = set()
        self.polling = False

    def watch(self, connection: HasDescriptor) -> CallerWatch:
        """A context manager: AbortConnection is raised in the current greenlet if the caller
        disconnects. It may be entered repeatedly; `read` and `close` serve a series of reads."""
        return CallerWatch(self, connection.fileno())

    def add(self, watch: CallerWatch) -> None:
        """Start polling the caller of a watch."""
        self.watches.add(watch)
        if not self.polling:
            self.polling = True
            gevent.spawn(self._poll_callers)

    def _poll_callers(self) -> None:
        while self.watches:
            gevent.sleep(INTERVAL)
            poller, callers = _poll(), dict[int, list[CallerWatch]]()
            for watch in self.watches:
                callers.setdefault(watch.descriptor, []).append(watch)
                poller.register(watch.descriptor, _DISCONNECTED)
            for descriptor, _ in poller.poll(0):
                for watch in callers[descriptor]:
                    gevent.get_hub().loop.run_callback(self._wake, watch)
        self.polling = False

    def _wake(self, watch: CallerWatch) -> None:
        """Called by the hub: raise _Disconnected in the greenlet of a watch, if it still waits."""
        if watch.waits and watch in self.watches:
            self.watches.discard(watch)
            watch.greenlet.throw(_Disconnected)


class CallerWatch:
    """The watch of one caller; while `waits` is True `greenlet` may be interrupted."""

    greenlet: Any = None
    waits = False

    def __init__(self, watcher: DisconnectWatcher, descriptor: int) -> None:
        self._watcher = watcher
        self.descriptor = descriptor

    def __enter__(self) -> None:
        self.greenlet, self.waits = gevent.getcurrent(), True
        if self.descriptor >= 0:
            self._watcher.add(self)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        if kind is _Disconnected:
            raise AbortConnection(AbortReason.CALLER_LEFT) from None

    def read(
        self,
        response: ReadableResponse,
        on_data: Callable[[bytes], None] | None = None,
        beat: float | None = None,
    ) -> bytes:
        """`response.read(on_data, beat)` under this watch, which lasts until `close`; for a series
        of reads in one greenlet."""
        if self.greenlet is None:
            self.__enter__()
        self.waits = True
        try:
            return response.read(on_data, beat)
        except _Disconnected:
            raise AbortConnection(AbortReason.CALLER_LEFT) from None
        finally:
            self.waits = False

    def close(self) -> None:
        """End the watch."""
        self.waits = False
        self.greenlet = None
        self._watcher.watches.discard(self)
