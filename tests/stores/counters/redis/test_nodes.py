"""The map of a cluster: which node has a slot."""

from __future__ import annotations

from contextlib import closing

import pytest
from redis.crc import key_slot

from engine.stores.counters.redis.address import DEFAULTS, parse
from engine.stores.counters.redis.call import Unsent
from engine.stores.counters.redis.counters import ClusterCounters
from engine.stores.counters.redis.nodes import ClusterNodes
from engine.values.counters import CountersAway
from tests.support.counters import client_at, rate, take
from tests.support.ports import free_port
from tests.support.redis_cluster import tag_of


def test_every_slot_has_its_node(cluster):
    nodes = ClusterNodes(parse(cluster.url, DEFAULTS), DEFAULTS)
    for sharer in map(str, range(100)):
        tag = tag_of(sharer)
        expected = f"redis at 127.0.0.1:{cluster.owner(tag).port}"
        assert nodes.owner(key_slot(tag.encode())).name == expected
    assert len(nodes.masters()) == 3
    nodes.close()


def test_one_node_of_the_url_is_enough(cluster):
    url = f"redis+cluster://127.0.0.1:{free_port()},127.0.0.1:{cluster.replicas[1].port}"
    nodes = ClusterNodes(parse(url, DEFAULTS), DEFAULTS)
    assert len(nodes.masters()) == 3
    nodes.close()


def test_nodes_that_name_no_host_are_at_the_host_that_was_asked(cluster):
    """As behind a proxy that maps ports: `cluster-preferred-endpoint-type unknown-endpoint`."""
    for node in cluster.nodes:
        node.say("CONFIG SET cluster-preferred-endpoint-type unknown-endpoint")
    with closing(ClusterCounters(cluster.url.replace("127.0.0.1", "localhost"))) as store:
        limits = [rate(cluster.sharer_at(at), 10) for at in range(3)]
        assert take(store, limits).remaining == [9, 9, 9]
        slot = key_slot(tag_of(cluster.sharer_at(0)).encode())
        cluster.move(slot, *cluster.masters[:2])
        assert take(store, limits).remaining == [8, 8, 8]
        cluster.move(slot, *cluster.masters[1::-1])
    for node in cluster.nodes:
        node.say("CONFIG SET cluster-preferred-endpoint-type ip")


def test_without_any_node_there_is_no_map():
    nodes = ClusterNodes(parse(f"redis+cluster://127.0.0.1:{free_port()}", DEFAULTS), DEFAULTS)
    with pytest.raises(Unsent, match="no node answers"):
        nodes.owner(5)
    nodes.close()


def test_a_server_that_is_no_node_of_a_cluster_is_named(redis_url):
    url = redis_url.replace("redis://", "redis+cluster://").removesuffix("/0")
    nodes = ClusterNodes(parse(url, DEFAULTS), DEFAULTS)
    with pytest.raises(Unsent, match="cluster support disabled"):
        nodes.refresh()
    nodes.close()


def test_a_node_that_is_addressed_alone_says_what_to_write(cluster):
    node = next(each for each in cluster.masters if each is not cluster.owner("{modelway}"))
    with pytest.raises(CountersAway, match=r"node of a cluster; write redis\+cluster://"):
        client_at(node.url).call(("PING",))
