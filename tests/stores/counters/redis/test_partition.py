"""A Redis server that is stopped, paused, started again, or was never there."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from engine.stores.counters.redis.counters import RedisCounters
from engine.values import counters
from engine.values.calendar import Calendar
from engine.values.counters import CountersAway
from tests.support.clock import MicrosecondClock
from tests.support.counters import RATE, Limit, Worker, take, workers
from tests.support.redis_faults import back


def wait_for(worker: Worker, is_expected: Callable[[object], bool]) -> list[object]:
    """What came of each take, up to the first that is as expected."""
    deadline, outcomes = time.monotonic() + 20, []
    while time.monotonic() < deadline:
        outcomes.append(worker.says())
        if is_expected(outcomes[-1]):
            return outcomes
    raise AssertionError("it never came")


def is_pass(outcome: object) -> bool:
    return outcome is True


def is_error(outcome: object) -> bool:
    return isinstance(outcome, str)


@pytest.mark.parametrize(
    ("trouble", "mend"), [("pause", "go_on"), ("kill", "start")], ids=["paused", "killed"]
)
def test_takes_under_load_fail_fast_and_recover_with_the_server(server, trouble, mend):
    with workers(1, server.url, "watching") as (worker,):
        wait_for(worker, is_pass)
        getattr(server, trouble)()
        wait_for(worker, is_error)
        outcomes = [worker.says() for _ in range(50)]
        getattr(server, mend)()
        outcomes += wait_for(worker, is_pass)[:-1]
        unexpected = [outcome for outcome in outcomes if not str(outcome).endswith(" is away")]
        assert unexpected == [], "these takes have waited for the server"


def test_a_restarted_server_is_used_by_the_next_take(server):
    store = RedisCounters(server.url)
    take(store, RATE)
    server.kill()
    server.start()
    assert take(store, RATE).remaining[0] == 8
    store.close()


def test_a_key_of_another_type_makes_the_store_away(server):
    server.say("SET {modelway}:112500000:rate:a text")
    store = RedisCounters(server.url)
    with pytest.raises(CountersAway, match="WRONGTYPE"):
        take(store, RATE)
    store.close()


def test_a_clock_that_is_far_from_that_of_the_server_counts_nothing(server, monkeypatch):
    """Its windows of the calendar would end those of all other machines."""
    store, month = RedisCounters(server.url), [Limit("a", 5, Calendar("month"), 2)]
    take(store, month)
    with monkeypatch.context() as wrong:
        wrong.setattr("time.time_ns", lambda: 10**15)
        other = RedisCounters(server.url)
        with pytest.raises(CountersAway, match="the clock of the server is"):
            take(other, month)
    assert take(store, month).remaining == [1]
    store.close()


def test_counts_of_a_month_that_the_server_lost_are_in_doubt_until_the_month_ends(server):
    clock = MicrosecondClock()
    store = RedisCounters(server.url, clock=clock)
    month = counters.Limit("a", 5, Calendar("month"))
    store.take((month,), [2])
    assert store.in_doubt((month,)) == ()
    server.kill()
    server.start()
    store.take((month,), [2])
    assert store.in_doubt((month,)) == (0,)
    clock.now = Calendar("month").window(clock.now)[1]
    assert store.in_doubt((month,)) == ()
    store.close()


def test_a_server_that_became_a_replica_is_away_until_it_takes_writes(server):
    store = RedisCounters(server.url)
    take(store, RATE)
    server.say("REPLICAOF 127.0.0.1 1")
    with pytest.raises(CountersAway, match="replica"):
        take(store, RATE)
    with pytest.raises(CountersAway, match="is away"):
        take(store, RATE)
    server.say("REPLICAOF NO ONE")
    back(store.ping)
    assert take(store, RATE).remaining == [6]
    store.close()


def test_a_server_that_is_killed_twice_lets_three_times_the_amount_pass(server):
    """As long as nothing is counted elsewhere."""
    store, passed = RedisCounters(server.url), 0
    for turn in range(3):
        if turn:
            server.kill()
            server.start()
        passed += sum(take(store, RATE).denied is None for _ in range(8))
    assert passed == 3 * 5
    store.close()
