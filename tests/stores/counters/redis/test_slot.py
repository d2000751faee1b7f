"""Slots that move to other nodes, and nodes that lose their data."""

from __future__ import annotations

import threading

from redis.crc import key_slot

from engine.values import counters
from tests.support.counters import rate, take
from tests.support.redis_cluster import tag_of


def test_a_node_that_lost_its_data_makes_its_own_limits_doubtful(cluster, store):
    first_limit, second_limit = (rate(cluster.sharer_at(at), 10) for at in (0, 2))
    take(store, [first_limit, second_limit])
    cluster.masters[0].say("FLUSHALL")
    for master in cluster.masters:
        master.say("CLIENT KILL TYPE normal SKIPME yes")
    take(store, [first_limit, second_limit])
    limits = tuple(counters.Limit(*limit[:3]) for limit in (second_limit, first_limit))
    assert store.in_doubt(limits) == (1,)


def test_limits_of_a_slot_that_moves_are_exact(cluster, store):
    """Keys that are on the former node, on the next one, and on none yet."""
    sharer = cluster.sharer_at(0)
    limits = [rate(sharer, 100, name) for name in ("rate", "budget")]
    assert take(store, limits).denied is None
    tag, source, target = tag_of(sharer), cluster.masters[0], cluster.masters[1]
    slot = key_slot(tag.encode())
    target.say(f"CLUSTER SETSLOT {slot} IMPORTING {cluster.id_of(source)}")
    source.say(f"CLUSTER SETSLOT {slot} MIGRATING {cluster.id_of(target)}")
    assert take(store, limits).remaining == [98, 98]
    new = rate(sharer, 100, "new")
    assert take(store, [*limits, new]).remaining == [97, 97, 99]
    keys = source.say(f"CLUSTER GETKEYSINSLOT {slot} 10").split(b"\r\n")[2::2]
    moved = [key.decode() for key in keys if key]
    for number, key in enumerate(moved, 1):
        source.say(f"MIGRATE 127.0.0.1 {target.port} {key} 0 5000")
        assert take(store, [*limits, new]).remaining == [97 - number, 97 - number, 99 - number]
    assert len(moved) == 3, "two limits and the dataset id"
    cluster.assign(slot, target)
    assert take(store, [*limits, new]).remaining == [93, 93, 95]
    assert store.in_doubt(tuple(counters.Limit(*limit[:3]) for limit in limits)) == ()
    cluster.move(slot, target, source)


def test_exactly_the_amount_passes_while_slots_move_under_load(cluster, store):
    sharer = cluster.sharer_at(0)
    limits = [rate(sharer, 1500), rate(sharer, 10**6, "budget"), rate(cluster.sharer_at(2), 10**6)]
    slot, (one, other, *_) = key_slot(tag_of(sharer).encode()), cluster.masters
    finished = threading.Event()

    def reshard() -> None:
        for _ in range(10):
            cluster.move(slot, one, other)
            cluster.move(slot, other, one)
        finished.set()

    resharding = threading.Thread(target=reshard)
    resharding.start()
    outcomes = []
    while not finished.is_set() or len(outcomes) < 2000:
        outcomes.append(take(store, limits).denied)
    resharding.join()
    assert outcomes.count(None) == 1500
