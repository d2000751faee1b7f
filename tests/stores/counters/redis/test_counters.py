"""Limits of one request on several nodes of a cluster: what is taken, and what is given back."""

from __future__ import annotations

import pytest

from engine.stores.counters.redis.address import RedisOptions
from engine.stores.counters.redis.counters import ClusterCounters
from engine.values import counters
from engine.values.counters import CountersAway
from tests.support.counters import Limit, rate, take, wait_for_corrections
from tests.support.redis_cluster import wait
from tests.support.redis_faults import back


@pytest.mark.parametrize("refusing", [0, 1, 2])
def test_what_was_taken_before_another_node_refuses_is_given_back(cluster, store, refusing):
    limits = [rate(cluster.sharer_at(at), 3 if at == refusing else 100) for at in range(3)]
    slot = Limit(f"slots|{cluster.sharer_at(1)}", 50, 0)
    outcomes = [take(store, [*limits, slot]) for _ in range(10)]
    assert [outcome.denied for outcome in outcomes] == [None] * 3 + [refusing] * 7
    wait_for_corrections(store)
    nothing = [limit._replace(cost=0) for limit in [*limits, slot]]
    expected = [0 if at == refusing else 97 for at in range(3)]
    assert take(store, nothing[:refusing] + nothing[refusing + 1 :]).remaining == [
        *(amount for amount in expected if amount),
        47,
    ]


def test_a_refusal_has_the_states_of_all_limits(cluster, store):
    limits = [rate(cluster.sharer_at(at), 1 if at == 1 else 5) for at in range(3)]
    take(store, limits)
    result = take(store, limits)
    assert (result.denied, result.receipt) == (1, None)
    assert result.remaining[1:] == [0, 4]
    assert [reset > 0 for reset in result.resets] == [True] * 3
    assert [wait > 0 for wait in result.waits] == [False, True, False]


def test_gateways_with_other_prefixes_share_nothing(cluster):
    for name in ("test", "live"):
        store = ClusterCounters(cluster.url, RedisOptions(prefix=name))
        limits = [rate(cluster.sharer_at(0), 3)]
        assert [take(store, limits).denied for _ in range(4)] == [None] * 3 + [0]
        keys = b"".join(master.say("KEYS *") for master in cluster.masters)
        assert b"\r\n{%s:" % name.encode() in keys
        store.close()


def test_costs_are_settled_on_every_node(cluster, store):
    limits = [rate(cluster.sharer_at(at), 100, cost=10) for at in range(3)]
    store.settle(take(store, limits).receipt, [1, 20, 0])
    wait_for_corrections(store)
    assert take(store, [limit._replace(cost=0) for limit in limits]).remaining == [99, 80, 100]


def test_a_node_that_is_away_leaves_the_limits_of_others_exact(failing):
    store = ClusterCounters(failing.url)
    first, second = (rate(failing.sharer_at(at), 5) for at in (0, 2))
    assert take(store, [first, second]).denied is None
    failing.replicas[0].kill()
    failing.masters[0].kill()
    failing.masters[1].say("CONFIG SET cluster-require-full-coverage no")
    failing.masters[2].say("CONFIG SET cluster-require-full-coverage no")
    for _ in range(3):
        with pytest.raises(CountersAway):
            take(store, [first, second])
    wait_for_corrections(store)
    assert [take(store, [second]).denied for _ in range(6)] == [None] * 4 + [0] * 2
    assert store.in_doubt((counters.Limit(*second[:3]),)) == ()
    store.close()


def test_after_a_failover_no_more_passes_than_the_replica_lacked(failing):
    store = ClusterCounters(failing.url)
    first, second = (rate(failing.sharer_at(at), 10) for at in (0, 2))
    assert [take(store, [first, second]).denied for _ in range(4)] == [None] * 4
    master, replica = failing.masters[0], failing.replicas[0]
    wait(lambda: failing.is_complete(replica))
    failing.cut(master, replica)
    assert [take(store, [first]).denied for _ in range(3)] == [None] * 3
    master.kill()
    failing.wait_for_failover(replica)
    back(lambda: take(store, [first._replace(cost=0)]))
    passed = sum(take(store, [first]).denied is None for _ in range(20))
    assert 4 + 3 + passed == 10 + 3
    assert [take(store, [second]).denied for _ in range(8)] == [None] * 6 + [0] * 2
    store.close()
