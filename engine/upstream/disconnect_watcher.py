"""Noticing that a caller has left while we wait for an upstream.

One greenlet of a worker looks at the callers' sockets twice a second, in one `poll` that waits for
nothing; whoever waits for the sake of a caller who has hung up is woken with AbortConnection.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol

import gevent
from gevent.monkey import get_original

from engine.values.errors import AbortConnection, AbortReason

EVERY = 0.5
"""Seconds between two looks."""

_LEFT = 0x2000 | 0x0008 | 0x0010  # POLLRDHUP, POLLERR, POLLHUP
_poll = get_original("select", "poll")


class _Disconnected(BaseException):
    """Wakes a greenlet that waits. Not an OSError like AbortConnection: the code that uses a socket
    would take that for an error of the socket and retry."""


class Readable(Protocol):
    """What is waited for again and again."""

    def read(self, passing: Callable[[bytes], None] | None, /) -> bytes: ...


class HasDescriptor(Protocol):
    """The caller's connection, or a socket."""

    def fileno(self) -> int: ...


class DisconnectWatcher:
    """The callers that somebody waits for, by the descriptor of their socket."""

    def __init__(self) -> None:
        self._watches: dict[int, CallerWatch] = {}
        self.looking = False

    def watch(self, connection: HasDescriptor) -> CallerWatch:
        """A context in which the current greenlet gets AbortConnection when the caller leaves. It
        may be entered repeatedly; for a series of reads it has `read` and `close`."""
        return CallerWatch(self, connection.fileno())

    def add(self, watch: CallerWatch) -> None:
        """Look at its caller from now on."""
        self._watches[watch.descriptor] = watch
        if not self.looking:
            self.looking = True
            gevent.spawn(self._look)

    def drop(self, watch: CallerWatch) -> None:
        """Look at its caller no longer."""
        if self._watches.get(watch.descriptor) is watch:
            del self._watches[watch.descriptor]

    def _look(self) -> None:
        while self._watches:
            gevent.sleep(EVERY)
            poller = _poll()
            for descriptor in self._watches:
                poller.register(descriptor, _LEFT)
            for descriptor, _ in poller.poll(0):
                watch = self._watches.get(descriptor)
                gevent.get_hub().loop.run_callback(self._wake, watch)
        self.looking = False

    def _wake(self, watch: CallerWatch | None) -> None:
        """From the hub, where nobody runs: wake it if it still waits, and not a moment later."""
        if watch is not None and watch.waits and self._watches.get(watch.descriptor) is watch:
            self.drop(watch)
            watch.greenlet.throw(_Disconnected)


class CallerWatch:
    """One caller that is watched; `waits` while `greenlet` may be woken."""

    __slots__ = ("_watcher", "descriptor", "greenlet", "waits")

    def __init__(self, watcher: DisconnectWatcher, descriptor: int) -> None:
        self._watcher = watcher
        self.descriptor = descriptor
        self.greenlet: Any = None
        self.waits = False

    def __enter__(self) -> None:
        self._begin()
        self.waits = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        if kind is _Disconnected:
            raise AbortConnection(AbortReason.CALLER_LEFT) from None

    def read(self, response: Readable, passing: Callable[[bytes], None] | None = None) -> bytes:
        """`answer.read(passing)`, watched: for one event after another, until `close`, and always
        in the same greenlet."""
        if self.greenlet is None:
            self._begin()
        self.waits = True
        try:
            return response.read(passing)
        except _Disconnected:
            raise AbortConnection(AbortReason.CALLER_LEFT) from None
        finally:
            self.waits = False

    def close(self) -> None:
        """Watch no longer."""
        self.waits = False
        self.greenlet = None
        self._watcher.drop(self)

    def _begin(self) -> None:
        self.greenlet = gevent.getcurrent()
        if self.descriptor >= 0:
            self._watcher.add(self)
