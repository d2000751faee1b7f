"""A greenlet that waits for an upstream is woken when its caller disconnects."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import gevent
import gevent.event
import gevent.socket
import pytest

from engine.exchange import disconnect_watcher
from engine.exchange.caller_connection import NO_CONNECTION
from engine.exchange.disconnect_watcher import DisconnectWatcher
from engine.upstream.client.connection import Connection
from engine.upstream.client.failures import IdleTimeout
from engine.upstream.client.http1 import ResponseParser
from engine.values.errors import AbortConnection
from tests.support.waiting import PATIENCE, Deadline


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disconnect_watcher, "INTERVAL", 0.01)


@pytest.fixture
def caller() -> Iterator[tuple[Any, Any]]:
    near, far = socket.socketpair()
    yield near, far
    near.close()
    far.close()


def result_of(greenlet: Any) -> BaseException | None:
    """The exception that ended a greenlet, or None."""
    greenlet.join(PATIENCE)
    assert greenlet.ready(), "it still waits"
    return greenlet.exception if isinstance(greenlet.exception, BaseException) else None


def waiting(watcher: DisconnectWatcher, sock: Any) -> None:
    with watcher.watch(sock):
        gevent.event.Event().wait(PATIENCE * 2)


def test_a_caller_who_disconnects_ends_the_wait(caller: Any) -> None:
    greenlet = gevent.spawn(waiting, DisconnectWatcher(), caller[0])
    gevent.sleep(0.03)
    assert not greenlet.ready()
    caller[1].close()
    assert isinstance(result_of(greenlet), AbortConnection)


def test_a_caller_who_disconnected_before_the_wait_ends_it(caller: Any) -> None:
    caller[1].close()
    assert isinstance(
        result_of(gevent.spawn(waiting, DisconnectWatcher(), caller[0])), AbortConnection
    )


def test_a_caller_who_sends_more_is_connected(caller: Any) -> None:
    greenlet = gevent.spawn(waiting, DisconnectWatcher(), caller[0])
    caller[1].sendall(b"GET / HTTP/1.1\r\n")
    gevent.sleep(0.05)
    assert not greenlet.ready()
    caller[1].close()  # with its bytes still unread
    assert isinstance(result_of(greenlet), AbortConnection)


def test_each_greenlet_is_woken_for_its_caller() -> None:
    watcher, pairs = DisconnectWatcher(), [socket.socketpair() for _ in range(50)]
    greenlets = [gevent.spawn(waiting, watcher, near) for near, _ in pairs]
    gevent.sleep(0.03)
    for _, far in pairs[::2]:
        far.close()
    assert all(isinstance(result_of(greenlet), AbortConnection) for greenlet in greenlets[::2])
    gevent.sleep(0.05)
    assert not any(greenlet.ready() for greenlet in greenlets[1::2])
    for _, far in pairs[1::2]:
        far.close()
    assert all(isinstance(result_of(greenlet), AbortConnection) for greenlet in greenlets[1::2])
    for near, _ in pairs:
        near.close()


def test_all_that_wait_for_one_caller_are_woken(caller: Any) -> None:
    """Calls from inside of the process, for one request."""
    watcher = DisconnectWatcher()
    greenlets = [gevent.spawn(waiting, watcher, caller[0]) for _ in range(3)]
    gevent.sleep(0.03)
    caller[1].close()
    assert all(isinstance(result_of(greenlet), AbortConnection) for greenlet in greenlets)


def test_after_the_wait_no_greenlet_is_woken(caller: Any) -> None:
    def work() -> str:
        with watcher.watch(caller[0]):
            gevent.sleep(0.02)
        caller[1].close()
        gevent.sleep(0.1)
        return "complete"

    watcher = DisconnectWatcher()
    greenlet = gevent.spawn(work)
    assert result_of(greenlet) is None
    assert greenlet.value == "complete"


def test_without_a_socket_no_caller_is_watched() -> None:
    with DisconnectWatcher().watch(NO_CONNECTION):
        gevent.sleep(0.02)


def test_an_exception_in_the_wait_passes(caller: Any) -> None:
    with pytest.raises(KeyError), DisconnectWatcher().watch(caller[0]):
        raise KeyError


def test_polling_ends_and_starts_again(caller: Any) -> None:
    watcher = DisconnectWatcher()
    for _ in range(3):
        with watcher.watch(caller[0]):
            pass
        deadline = Deadline()
        while watcher.polling and not deadline.passed():
            gevent.sleep(0.005)
        assert not watcher.polling
    greenlet = gevent.spawn(waiting, watcher, caller[0])
    caller[1].close()
    assert isinstance(result_of(greenlet), AbortConnection)


def test_a_disconnect_is_not_an_error_of_the_upstreams_socket(caller: Any) -> None:
    """AbortConnection is an OSError, and those of a socket mean that the other side is closed."""
    here, upstream = gevent.socket.socketpair()
    parser = ResponseParser("GET", False)

    def work() -> None:
        with DisconnectWatcher().watch(caller[0]):
            Connection(here, 0.0).receive(parser, (PATIENCE * 2, IdleTimeout))

    greenlet = gevent.spawn(work)
    gevent.sleep(0.03)
    caller[1].close()
    assert isinstance(result_of(greenlet), AbortConnection)
    assert not parser.is_complete
    here.close()
    upstream.close()


class Silent:
    """An upstream that is silent for a while."""

    def read(self, on_data: Any = None, beat: float | None = None) -> bytes:
        gevent.event.Event().wait(PATIENCE * 2)
        return b""


class Quick:
    def read(self, on_data: Any = None, beat: float | None = None) -> bytes:
        return b"event"


def test_a_stream_is_watched_from_event_to_event(caller: Any) -> None:
    def work() -> None:
        watch = DisconnectWatcher().watch(caller[0])
        assert watch.read(Quick()) == b"event"
        watch.read(Silent())

    greenlet = gevent.spawn(work)
    gevent.sleep(0.03)
    caller[1].close()
    assert isinstance(result_of(greenlet), AbortConnection)


def test_between_two_events_no_greenlet_is_woken(caller: Any) -> None:
    """It may be sending then, and a send reports the disconnect."""

    def work() -> str:
        watch = DisconnectWatcher().watch(caller[0])
        watch.read(Quick())
        caller[1].close()
        gevent.sleep(0.1)
        watch.close()
        return "undisturbed"

    greenlet = gevent.spawn(work)
    assert result_of(greenlet) is None
    assert greenlet.value == "undisturbed"


def test_a_closed_watch_is_not_polled(caller: Any) -> None:
    watcher = DisconnectWatcher()
    watch = watcher.watch(caller[0])
    watch.read(Quick())
    watch.close()
    gevent.sleep(0.05)
    assert not watcher.polling
