"""Which connection comes next, and which never again: with socket pairs and a clock of our own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gevent.socket
import pytest

from engine.upstream.client.connection import Connection
from engine.upstream.client.pool import Pool
from tests.support.clock import Clock


class Bench:
    """A pool of two, and connections whose other ends are kept."""

    def __init__(self) -> None:
        self.clock = Clock(1000.0)
        self.pool = Pool(2, 30.0, 300.0, self.clock)
        self.far: dict[Connection, Any] = {}

    def connection(self) -> Connection:
        near, far = gevent.socket.socketpair()
        connection = Connection(near, self.clock.now)
        self.far[connection] = far
        return connection

    def closed(self, connection: Connection) -> bool:
        return connection.socket.fileno() == -1


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.pool.close()
    for connection, far in bench.far.items():
        connection.close()
        far.close()


def test_last_in_first_out(bench: Bench) -> None:
    one, two = bench.connection(), bench.connection()
    bench.pool.give(one)
    bench.pool.give(two)
    assert [bench.pool.take(), bench.pool.take(), bench.pool.take()] == [two, one, None]


def test_the_longest_idle_goes_when_there_are_too_many(bench: Bench) -> None:
    one, two, three = (bench.connection() for _ in range(3))
    for connection in (one, two, three):
        bench.pool.give(connection)
    assert len(bench.pool) == 2
    assert bench.closed(one)
    assert bench.pool.take() is three


def test_a_pool_of_none_keeps_none(bench: Bench) -> None:
    pool = Pool(0, 30.0, 300.0, bench.clock)
    connection = bench.connection()
    pool.give(connection)
    assert bench.closed(connection)
    assert pool.take() is None


def test_idle_too_long(bench: Bench) -> None:
    connection = bench.connection()
    bench.pool.give(connection)
    bench.clock.now += 29.9
    assert bench.pool.take() is connection
    bench.pool.give(connection)
    bench.clock.now += 30
    assert bench.pool.take() is None
    assert bench.closed(connection)


def test_too_old(bench: Bench) -> None:
    connection = bench.connection()
    for _ in range(14):
        bench.clock.now += 20
        bench.pool.give(connection)
        assert bench.pool.take() is connection
    bench.clock.now += 20
    bench.pool.give(connection)
    assert bench.closed(connection)
    assert bench.pool.take() is None


def test_the_surplus_of_a_busy_minute_is_closed_without_being_asked_for(bench: Bench) -> None:
    surplus, busy = bench.connection(), bench.connection()
    bench.pool.give(surplus)
    bench.clock.now += 31
    bench.pool.give(busy)
    assert bench.closed(surplus)
    assert len(bench.pool) == 1


def test_ended_by_the_other_side(bench: Bench) -> None:
    alive, ended = bench.connection(), bench.connection()
    bench.pool.give(alive)
    bench.pool.give(ended)
    bench.far[ended].close()
    assert bench.pool.take() is alive
    assert bench.closed(ended)


def test_bytes_nobody_asked_for(bench: Bench) -> None:
    connection = bench.connection()
    bench.pool.give(connection)
    bench.far[connection].sendall(b"HTTP/1.1 408 Request Timeout\r\n\r\n")
    assert bench.pool.take() is None


def test_closing_closes_the_idle_now_and_the_busy_when_they_come_back(bench: Bench) -> None:
    idle, busy = bench.connection(), bench.connection()
    bench.pool.give(idle)
    bench.pool.close()
    assert bench.closed(idle)
    bench.pool.give(busy)
    assert bench.closed(busy)
