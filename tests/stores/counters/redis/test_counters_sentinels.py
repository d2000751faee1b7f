"""Counters in the master that Sentinels name: what a failover lets pass."""

from __future__ import annotations

from collections.abc import Iterator

import gevent
import pytest

from engine.stores.counters.redis.counters import RedisCounters
from engine.values.counters import CountersAway
from tests.support.counters import Limit, take
from tests.support.redis_faults import back
from tests.support.redis_sentinel import MASTER
from tests.support.redis_server import command

TEN = [Limit("rate:a", 10, 3600.0)]


@pytest.fixture
def store(group) -> Iterator[RedisCounters]:
    store = RedisCounters(group.url)
    yield store
    store.close()


def passes(store: RedisCounters, takes: int) -> int:
    return sum(take(store, TEN).denied is None for _ in range(takes))


def test_after_a_failover_no_more_passes_than_the_replica_lacked(group, store):
    assert passes(store, 4) == 4
    group.wait_for_replica()
    group.cut()
    assert passes(store, 3) == 3
    group.master.kill()
    with pytest.raises(CountersAway):
        take(store, TEN)
    group.wait_for_failover()
    back(store.ping)
    assert 4 + 3 + passes(store, 20) == 10 + 3


def test_a_master_that_was_demoted_is_left(group, store, caplog):
    """Also by a worker whose connections to it still work."""
    assert passes(store, 2) == 2
    command(group.ports[0], f"SENTINEL FAILOVER {MASTER}")
    group.wait_for_failover()
    with gevent.Timeout(20):
        while "has moved" not in caplog.text:
            gevent.sleep(0.01)
    assert passes(store, 20) == 8
    assert group.replica.say("HGET {modelway}:112500000:rate:a t") == b"$2\r\n10\r\n"


def test_without_sentinels_the_last_known_master_is_used(group, store):
    assert passes(store, 1) == 1
    group.kill_sentinels()
    group.master.say("CLIENT KILL TYPE normal SKIPME yes")
    assert passes(store, 1) == 1
