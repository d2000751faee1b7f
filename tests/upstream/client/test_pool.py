"""Which connection is used next and which are closed, with socket pairs and a clock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gevent.socket
import pytest

from engine.upstream.client.connection import Connection
from engine.upstream.client.pool import Pool
from tests.support.clock import Clock


class Bench:
    """A pool of two, and connections with their other ends."""

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
    first, second = bench.connection(), bench.connection()
    bench.pool.give(first)
    bench.pool.give(second)
    assert [bench.pool.take(), bench.pool.take(), bench.pool.take()] == [second, first, None]


def test_the_longest_idle_is_closed_when_there_are_too_many(bench: Bench) -> None:
    first, second, third = (bench.connection() for _ in range(3))
    for connection in (first, second, third):
        bench.pool.give(connection)
    assert len(bench.pool) == 2
    assert bench.closed(first)
    assert bench.pool.take() is third


def test_a_pool_of_size_0_holds_no_connection(bench: Bench) -> None:
    pool = Pool(0, 30.0, 300.0, bench.clock)
    connection = bench.connection()
    pool.give(connection)
    assert bench.closed(connection)
    assert pool.take() is None


def test_a_connection_idle_too_long_is_closed(bench: Bench) -> None:
    connection = bench.connection()
    bench.pool.give(connection)
    bench.clock.now += 29.9
    assert bench.pool.take() is connection
    bench.pool.give(connection)
    bench.clock.now += 30
    assert bench.pool.take() is None
    assert bench.closed(connection)


def test_a_connection_that_is_too_old_is_closed(bench: Bench) -> None:
    connection = bench.connection()
    for _ in range(14):
        bench.clock.now += 20
        bench.pool.give(connection)
        assert bench.pool.take() is connection
    bench.clock.now += 20
    bench.pool.give(connection)
    assert bench.closed(connection)
    assert bench.pool.take() is None


def test_expired_connections_are_closed_when_another_returns(bench: Bench) -> None:
    surplus, busy = bench.connection(), bench.connection()
    bench.pool.give(surplus)
    bench.clock.now += 31
    bench.pool.give(busy)
    assert bench.closed(surplus)
    assert len(bench.pool) == 1


def test_a_connection_that_the_upstream_closed_is_not_used(bench: Bench) -> None:
    alive, ended = bench.connection(), bench.connection()
    bench.pool.give(alive)
    bench.pool.give(ended)
    bench.far[ended].close()
    assert bench.pool.take() is alive
    assert bench.closed(ended)


def test_a_connection_with_unexpected_bytes_is_not_used(bench: Bench) -> None:
    connection = bench.connection()
    bench.pool.give(connection)
    bench.far[connection].sendall(b"HTTP/1.1 408 Request Timeout\r\n\r\n")
    assert bench.pool.take() is None


def test_closing_closes_idle_connections_now_and_busy_ones_on_return(bench: Bench) -> None:
    idle, busy = bench.connection(), bench.connection()
    bench.pool.give(idle)
    bench.pool.close()
    assert bench.closed(idle)
    bench.pool.give(busy)
    assert bench.closed(busy)


def test_prune_closes_what_is_idle_for_too_long_or_retired(bench: Bench) -> None:
    old, young, retired = (bench.connection() for _ in range(3))
    bench.pool.give(old)
    bench.clock.now += 20
    pool = bench.pool
    pool.give(young)
    bench.clock.now += 10
    pool.prune()
    assert (bench.closed(old), bench.closed(young), len(pool)) == (True, False, 1)
    pool.give(retired)
    retired.retire()
    pool.prune()
    assert (bench.closed(retired), len(pool)) == (True, 1)


def test_a_retired_connection_is_closed_after_its_request(bench: Bench) -> None:
    connection = bench.connection()
    connection.retire()
    bench.pool.give(connection)
    assert bench.closed(connection)
