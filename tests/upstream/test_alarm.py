"""Waiting with a limit of time, on real sockets and a real loop."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import gevent
import gevent.socket
import pytest

from engine.upstream.alarm import Alarm

SHORT = 0.03


@pytest.fixture
def pair() -> Iterator[tuple[Any, Any]]:
    near, far = gevent.socket.socketpair()
    yield near, far
    near.close()
    far.close()


def test_a_wait_ends_when_something_comes(pair: tuple[Any, Any]) -> None:
    near, far = pair
    alarm = Alarm()
    far.send(b"x")
    alarm.wait(near._read_event, 5.0)
    assert near.recv(9) == b"x"
    alarm.close()


def test_a_wait_ends_after_its_time(pair: tuple[Any, Any]) -> None:
    alarm, begun = Alarm(), time.monotonic()
    with pytest.raises(TimeoutError):
        alarm.wait(pair[0]._read_event, SHORT)
    assert SHORT <= time.monotonic() - begun < 1.0


def test_a_later_wait_has_a_time_of_its_own(pair: tuple[Any, Any]) -> None:
    """The timer of the first wait rings during the second, which is not over then."""
    near, far = pair
    alarm = Alarm()
    far.send(b"x")
    alarm.wait(near._read_event, SHORT)
    near.recv(1)
    gevent.spawn_later(SHORT * 2, far.send, b"y")
    alarm.wait(near._read_event, 5.0)
    assert near.recv(1) == b"y"
    with pytest.raises(TimeoutError):
        alarm.wait(near._read_event, SHORT)


def test_a_shorter_wait_after_a_longer_one_is_short(pair: tuple[Any, Any]) -> None:
    near, far = pair
    alarm = Alarm()
    far.send(b"x")
    alarm.wait(near._read_event, 60.0)
    near.recv(1)
    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        alarm.wait(near._read_event, SHORT)
    assert time.monotonic() - begun < 1.0


def test_it_rings_for_nobody_when_nobody_waits(pair: tuple[Any, Any]) -> None:
    near, far = pair
    alarm = Alarm()
    far.send(b"x")
    alarm.wait(near._read_event, SHORT)
    gevent.sleep(SHORT * 2)  # nothing is thrown at who has gone on
    assert alarm.left() == 0.0


def test_after_closing_nothing_rings(pair: tuple[Any, Any]) -> None:
    near, far = pair
    alarm = Alarm()
    far.send(b"x")
    alarm.wait(near._read_event, SHORT)
    alarm.close()
    alarm.close()
    assert alarm._timer is None
    gevent.sleep(SHORT * 2)
