"""The master that Sentinels name, and whether it still has its data after a failover."""

from __future__ import annotations

import pytest

from engine.values.counters import CountersAway
from tests.support.counters import client_at
from tests.support.redis_faults import back
from tests.support.redis_sentinel import MASTER


def test_a_failover_to_a_replica_with_the_data_is_no_loss(group):
    client = client_at(group.url)
    client.call(("PING",))
    group.wait_for_replica()
    group.master.kill()
    group.wait_for_failover()
    back(lambda: client.call(("PING",)))
    assert client.lost_at < 0 < client.back_at
    client.close()


def test_a_failover_to_a_replica_without_the_data_is_a_loss(group):
    client = client_at(group.url)
    client.call(("PING",))
    group.cut()
    group.replica.say("CONFIG SET replica-read-only no")
    group.replica.say("FLUSHALL")
    group.master.kill()
    group.wait_for_failover()
    back(lambda: client.call(("PING",)))
    assert client.lost_at > 0
    client.close()


def test_a_worker_that_finds_no_sentinel_finds_no_master(group):
    group.kill_sentinels()
    with pytest.raises(CountersAway, match=f"redis master '{MASTER}': No master found"):
        client_at(group.url).call(("PING",))
