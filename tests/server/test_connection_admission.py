"""Which callers a worker admits."""

from __future__ import annotations

from typing import Any

import gevent.socket
import pytest

from engine.server.connection_admission import Admission, IdleConnections


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The steady clock, as a list of one."""
    now = [100.0]
    monkeypatch.setattr("engine.server.connection_admission.time.monotonic", lambda: now[0])
    return now


class Pair:
    """Two ends of a connection."""

    def __init__(self) -> None:
        self.near, self.far = gevent.socket.socketpair()

    @property
    def ended(self) -> bool:
        """Whether the gateway reads no more of it."""
        self.near.settimeout(0.0)
        try:
            return not self.near.recv(1)
        except BlockingIOError:
            return False


def admission_of(connections: int, most: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    monkeypatch.setattr("engine.process.file_descriptors.capacity", lambda: (most, 16))
    idle = IdleConnections()
    admission = Admission(connections, idle, lambda address: b"HTTP/1.1 503 No\r\n\r\n")
    return admission, idle


def test_the_connection_that_has_been_idle_longest_is_closed_for_a_new_one(clock, monkeypatch):
    admission, idle = admission_of(100, 2, monkeypatch)
    first, second, third = Pair(), Pair(), Pair()
    for pair in (first, second, third):
        idle[pair.near] = clock[0]
        clock[0] += 1
    del idle[first.near]  # it has a request
    admission.pools.append([1, 2])
    assert admission.admits()
    assert [pair.ended for pair in (first, second, third)] == [False, True, False]
    assert len(idle) == 1
    assert admission.admits()
    assert third.ended
    assert not admission.admits()


def test_the_telemetry_listener_has_reserved_descriptors(clock, monkeypatch):
    admission, _ = admission_of(100, 4, monkeypatch)
    own, idle, pair = [], IdleConnections(), Pair()
    admission.pools += [[1, 2], own]
    assert not admission.admits()
    for number in range(4):  # a quarter of what is kept for others
        assert admission.admits(own, idle)
        own.append(number)
    assert not admission.admits(own, idle)
    idle[pair.near] = clock[0]
    clock[0] += 1
    assert not admission.admits()
    assert not pair.ended
    assert admission.admits(own, idle)
    assert pair.ended


def test_a_connection_whose_request_may_be_on_its_way_is_not_closed_for_another(clock, monkeypatch):
    admission, idle = admission_of(100, 1, monkeypatch)
    pair = Pair()
    idle[pair.near] = clock[0]
    admission.pools.append([1])
    assert not admission.admits()
    clock[0] += 0.2
    assert admission.admits()


def test_with_descriptors_left_the_last_place_is_kept_free_and_nobody_is_refused(
    clock, monkeypatch, caplog
):
    admission, idle = admission_of(3, 100, monkeypatch)
    pair = Pair()
    idle[pair.near] = clock[0]
    clock[0] += 1
    admission.pools.append([1])
    assert admission.admits()
    assert not pair.ended
    admission.pools.append([2])
    assert admission.admits()
    assert pair.ended
    assert admission.admits()  # the listener itself waits when its pool is full
    assert not caplog.text


def until_closed(*pairs):
    with gevent.Timeout(20):
        while any(pair.near.fileno() != -1 for pair in pairs):
            gevent.sleep(0.001)


def test_a_refused_caller_gets_503_at_once_and_is_read_for_a_moment(monkeypatch):
    admission, _ = admission_of(1, 1, monkeypatch)
    pair = Pair()
    pair.far.sendall(b"POST / HTTP/1.1\r\n\r\n")
    admission.refuse(pair.near, ("127.0.0.1", 1))
    assert pair.far.recv(100) == b"HTTP/1.1 503 No\r\n\r\n"
    assert pair.far.recv(100) == b""
    pair.far.sendall(b"the rest")  # nothing is reset
    gevent.sleep(0)
    pair.far.close()
    until_closed(pair)


def test_many_refused_callers_hold_no_descriptors(monkeypatch):
    admission, _ = admission_of(1, 1, monkeypatch)
    pairs = [Pair() for _ in range(20)]
    for pair in pairs:
        admission.refuse(pair.near, None)
    assert all(pair.far.recv(100).startswith(b"HTTP/1.1 503") for pair in pairs)
    assert sum(pair.near.fileno() != -1 for pair in pairs) == 2
    for pair in pairs:
        pair.far.close()
    until_closed(*pairs)
