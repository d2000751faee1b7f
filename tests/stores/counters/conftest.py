"""The places and stores that tests of counters share."""

from __future__ import annotations

import pytest

from engine.stores.counters.memory import MemoryCounters
from engine.stores.counters.redis.counters import ClusterCounters, RedisCounters
from tests.support import redis_server
from tests.support.clock import MicrosecondClock
from tests.support.counters import Bench, folder
from tests.support.redis_cluster import RedisCluster


@pytest.fixture(scope="session")
def shared_redis():
    """A Redis server that all tests of a process share; for one that is stopped, start another."""
    if redis_server.BINARY is None:
        pytest.skip(redis_server.WHY_NOT)
    server = redis_server.RedisServer()
    yield server
    server.close()


@pytest.fixture
def server():
    """A Redis server of the test's own, which it may stop."""
    if redis_server.BINARY is None:
        pytest.skip(redis_server.WHY_NOT)
    server = redis_server.RedisServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def shared_cluster():
    """A cluster that all tests of a process share; to stop nodes, start another."""
    if redis_server.BINARY is None:
        pytest.skip(redis_server.WHY_NOT)
    cluster = RedisCluster()
    yield cluster
    cluster.close()


@pytest.fixture
def cluster(shared_cluster):
    shared_cluster.flush()
    return shared_cluster


@pytest.fixture
def redis_url(shared_redis):
    shared_redis.say("FLUSHALL")
    return shared_redis.url


@pytest.fixture
def path():
    with folder() as path:
        yield path


@pytest.fixture
def clock():
    return MicrosecondClock()


@pytest.fixture
def store(path, clock):
    store = MemoryCounters(path, clock=clock, wall_clock=clock)
    yield store
    store.close()


@pytest.fixture(params=["memory", "redis"])
def place(request):
    """Where workers meet: a path for MemoryCounters, a URL for Redis."""
    return request.getfixturevalue("path" if request.param == "memory" else "redis_url")


@pytest.fixture(params=["memory", "redis", "cluster"])
def bench(request):
    """A store of each kind, on a clock that the test turns."""
    clock = MicrosecondClock()
    if request.param == "redis":
        store = RedisCounters(request.getfixturevalue("redis_url"), clock=clock)
    elif request.param == "cluster":
        store = ClusterCounters(request.getfixturevalue("cluster").url, clock=clock)
    else:
        path = request.getfixturevalue("path")
        store = MemoryCounters(path, clock=clock, wall_clock=clock)
    yield Bench(store, clock)
    store.close()
