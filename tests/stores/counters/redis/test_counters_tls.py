"""TLS with client certificates and users of an ACL: to one server, to Sentinels and their master,
and to all nodes of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec import structs
from redis.crc import key_slot

from engine.stores.counters.redis.address import DEFAULTS, RedisOptions
from engine.stores.counters.redis.counters import ClusterCounters, RedisCounters
from engine.values.counters import CountersAway
from tests.support import redis_server
from tests.support.counters import RATE, rate, take
from tests.support.peer import Authority
from tests.support.redis_cluster import RedisCluster, tag_of, wait
from tests.support.redis_faults import back
from tests.support.redis_sentinel import SentinelGroup
from tests.support.redis_server import ACL, SENTINEL_ACL, RedisServer, RedisTls

"""What the manual says that a user needs at Sentinels."""

Store = RedisCounters | ClusterCounters


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def tls(authority: Authority) -> RedisTls:
    """The certificate of the servers."""
    if redis_server.BINARY is None:
        pytest.skip(redis_server.WHY_NOT)
    return RedisTls(authority.path, authority.issue("127.0.0.1"))


@pytest.fixture
def known(authority: Authority) -> RedisOptions:
    """The options of a gateway that has a certificate."""
    pair = authority.issue("gateway")
    return structs.replace(DEFAULTS, ca=authority.path, certificate=pair.cert, key=pair.key)


@pytest.fixture
def server(tls: RedisTls) -> Iterator[RedisServer]:
    with closing(RedisServer(tls=tls)) as server:
        yield server


@pytest.fixture
def group(tls: RedisTls) -> Iterator[SentinelGroup]:
    with closing(SentinelGroup(tls)) as group:
        yield group


@pytest.fixture
def cluster(tls: RedisTls) -> Iterator[RedisCluster]:
    with closing(RedisCluster(node_timeout=1000, tls=tls)) as cluster:
        yield cluster


def _is_refused(open_store: Callable[[], Store]) -> bool:
    with closing(open_store()) as store:
        try:
            take(store, RATE)
        except CountersAway:
            return True
    return False


def _strangers(known: RedisOptions) -> list[RedisOptions]:
    """The options of a gateway without a certificate, and of one that trusts another authority."""
    return [
        structs.replace(known, certificate=None, key=None),
        structs.replace(known, ca=None),
    ]


def test_one_server_is_asked_over_tls(server, known):
    url = f"rediss://127.0.0.1:{server.tls_port}/0"
    with closing(RedisCounters(url, known)) as store:
        assert take(store, RATE).remaining == [8]
    for options in _strangers(known):
        assert _is_refused(lambda options=options: RedisCounters(url, options))


def test_sentinels_and_their_masters_are_asked_over_tls(group, known):
    for options in _strangers(known):
        assert _is_refused(lambda options=options: RedisCounters(group.url, options))
    with closing(RedisCounters(group.url, known)) as store:
        assert take(store, RATE).remaining == [8]
        group.wait_for_replica()
        group.master.kill()
        group.wait_for_failover()
        back(lambda: take(store, RATE))
        assert take(store, RATE).remaining == [4]


def test_sentinels_and_their_master_have_users_of_their_own(group, known):
    group.tell_sentinels(f"ACL SETUSER gateway on >watch {SENTINEL_ACL}")
    group.master.say(f"ACL SETUSER gateway on >s3cret {ACL}")
    url = group.url.replace("://", "://gateway:s3cret@")
    login = structs.replace(known, sentinel_user="gateway", sentinel_password="watch")
    with closing(RedisCounters(url, login)) as store:
        assert take(store, RATE).remaining == [8]
    wrong = structs.replace(login, sentinel_password="s3cret")
    assert _is_refused(lambda: RedisCounters(url, wrong))
    assert _is_refused(lambda: RedisCounters(url.replace("s3cret", "watch"), login))


def test_all_nodes_of_a_cluster_are_asked_over_tls(cluster, known):
    for options in _strangers(known):
        assert _is_refused(lambda options=options: ClusterCounters(cluster.url, options))
    limits = [rate(cluster.sharer_at(at), 10) for at in range(3)]
    with closing(ClusterCounters(cluster.url, known)) as store:
        assert take(store, limits).remaining == [9, 9, 9]
        cluster.move(key_slot(tag_of(cluster.sharer_at(0)).encode()), *cluster.masters[:2])
        assert take(store, limits).remaining == [8, 8, 8]
        wait(lambda: cluster.is_complete(cluster.replicas[2]))
        cluster.masters[2].kill()
        cluster.wait_for_failover(cluster.replicas[2])
        back(lambda: take(store, limits))
        assert take(store, limits).remaining == [6, 6, 6]


def test_a_user_of_an_acl_is_shown_to_all_nodes_of_a_cluster(cluster, known):
    for node in cluster.nodes:
        node.say(f"ACL SETUSER gateway on >s3cret {ACL}")
        node.say("ACL SETUSER default -evalsha -eval")
    url = cluster.url.replace("://", "://gateway:s3cret@")
    limits = [rate(cluster.sharer_at(at), 10) for at in range(3)]
    with closing(ClusterCounters(url, known)) as store:
        assert take(store, limits).remaining == [9, 9, 9]
    assert _is_refused(lambda: ClusterCounters(url.replace("s3cret", "wrong"), known))
    assert _is_refused(lambda: ClusterCounters(cluster.url, known))
