"""Noticing that a caller has left while we wait for an upstream.

One greenlet of a worker looks at the callers' sockets twice a second, in one `poll` that waits for
nothing; whoever waits for the sake of a caller who has hung up is woken with CallerGone.
"""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Any, Protocol

import gevent
from gevent.monkey import get_original

from engine.errors import CallerGone

EVERY = 0.5
"""Seconds between two looks."""

_LEFT = 0x2000 | 0x0008 | 0x0010  # POLLRDHUP, POLLERR, POLLHUP
_poll = get_original("select", "poll")


class _Woken(BaseException):
    """What wakes whoever waits: no OSError like CallerGone, which a socket's user would take for
    its own and ask again."""


class Readable(Protocol):
    """What is waited for again and again."""

    def read(self) -> bytes: ...


class Watcher:
    """The callers that somebody waits for, by the descriptor of their socket."""

    def __init__(self) -> None:
        self.waiting: dict[int, Any] = {}
        self.looking = False

    def watching(self, sock: socket.socket | None) -> _Watch:
        """A context in which the current greenlet gets CallerGone when the caller leaves. It may
        be entered again and again."""
        return _Watch(self, sock)

    def _look(self) -> None:
        while self.waiting:
            gevent.sleep(EVERY)
            poller = _poll()
            for descriptor in self.waiting:
                poller.register(descriptor, _LEFT)
            for descriptor, _ in poller.poll(0):
                greenlet = self.waiting.get(descriptor)
                gevent.get_hub().loop.run_callback(self._wake, descriptor, greenlet)
        self.looking = False

    def _wake(self, descriptor: int, greenlet: Any) -> None:
        """From the hub, where nobody runs: wake it if it still waits, and not a moment later."""
        if descriptor in self.waiting and self.waiting[descriptor] is greenlet:
            del self.waiting[descriptor]
            greenlet.throw(_Woken)

    def begin(self) -> None:
        """Look from now on, as long as anybody waits."""
        self.looking = True
        gevent.spawn(self._look)


class _Watch:
    __slots__ = ("_descriptor", "_watcher")

    def __init__(self, watcher: Watcher, sock: socket.socket | None) -> None:
        self._watcher = watcher
        self._descriptor = sock.fileno() if sock is not None else -1

    def __enter__(self) -> None:
        if self._descriptor >= 0:
            watcher = self._watcher
            watcher.waiting[self._descriptor] = gevent.getcurrent()
            if not watcher.looking:
                watcher.begin()

    def read(self, answer: Readable) -> bytes:
        """`answer.read()`, watched: as entering would, but cheaper for one event after another."""
        waiting, descriptor = self._watcher.waiting, self._descriptor
        if descriptor < 0:
            return answer.read()
        waiting[descriptor] = gevent.getcurrent()
        if not self._watcher.looking:
            self._watcher.begin()
        try:
            return answer.read()
        except _Woken:
            raise CallerGone("the caller left") from None
        finally:
            waiting.pop(descriptor, None)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._watcher.waiting.pop(self._descriptor, None)
        if kind is _Woken:
            raise CallerGone("the caller left") from None
