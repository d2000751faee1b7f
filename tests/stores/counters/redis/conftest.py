"""Servers with replicas that tests of counters in Redis share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.stores.counters.redis.counters import ClusterCounters
from tests.support import redis_server
from tests.support.redis_cluster import RedisCluster
from tests.support.redis_sentinel import SentinelGroup


@pytest.fixture
def group() -> Iterator[SentinelGroup]:
    """A master, its replica and three Sentinels of the test's own."""
    if redis_server.BINARY is None:
        pytest.skip(redis_server.WHY_NOT)
    group = SentinelGroup()
    yield group
    group.close()


@pytest.fixture
def store(cluster: RedisCluster) -> Iterator[ClusterCounters]:
    """Counters in the shared cluster."""
    store = ClusterCounters(cluster.url)
    yield store
    store.close()


@pytest.fixture
def failing() -> Iterator[RedisCluster]:
    """A cluster of the test's own, which fails over within a second or two."""
    if redis_server.BINARY is None:
        pytest.skip(redis_server.WHY_NOT)
    cluster = RedisCluster(node_timeout=1000)
    yield cluster
    cluster.close()
