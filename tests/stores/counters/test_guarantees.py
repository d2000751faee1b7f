"""What passes at most: the table of the manual, a test for each row with a fault beyond one server.

Rows of one server that stops, stalls or loses its data are in `test_fallback.py`, of `deny` in
`redis/test_counters_sentinels.py` and `redis/test_counters.py`, and without faults in
`test_workers.py` and `benchmarks/limits_under_load.py`. Workers take of ten requests an hour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.support import redis_server
from tests.support.counters import folder
from tests.support.redis_cluster import RedisCluster, tag_of, wait
from tests.support.redis_sentinel import SentinelGroup
from tests.support.redis_server import RedisServer
from tests.support.stepper import Stepper, until_redis_decides
from tests.support.tcp_proxy import TcpProxy

pytestmark = pytest.mark.skipif(redis_server.BINARY is None, reason=redis_server.WHY_NOT)

L = 10


@pytest.fixture
def machine() -> Iterator[Callable[..., Stepper]]:
    """Makes workers, each of a machine of its own."""
    with ExitStack() as stack:

        def make(url: str, machines: int = 1) -> Stepper:
            worker = Stepper(url, stack.enter_context(folder()), machines)
            stack.callback(worker.end)
            return worker

        yield make


def passes(worker: Stepper, times: int) -> int:
    """How many of so many requests pass one after another, each settled at its real cost."""
    count = 0
    for _ in range(times):
        count += worker.passes(1)
        worker.do("settle")
    return count


def test_a_partition_between_one_machine_and_redis(server: RedisServer, machine) -> None:
    proxy = TcpProxy(server.port)
    cut = machine(f"redis://127.0.0.1:{proxy.port}/0", 2)
    other = machine(server.url, 2)
    count = passes(cut, 2) + passes(other, 2)
    proxy.drop()
    count += passes(cut, 12)
    assert count == 4 + L // 2
    count += passes(other, 12)
    proxy.heal()
    until_redis_decides(cut)
    count += passes(cut, 5) + passes(other, 5)
    assert count == L + L // 2
    proxy.close()


def test_requests_under_way_when_a_partition_begins_are_given_back(server, machine) -> None:
    proxy = TcpProxy(server.port)
    cut, other = machine(f"redis://127.0.0.1:{proxy.port}/0", 2), machine(server.url, 2)
    passes(cut, 1)
    proxy.drop()
    assert passes(cut, 12) == L // 2
    proxy.heal()
    until_redis_decides(cut)
    assert passes(other, 12) >= L - 1 - 2, "the takes of the partition stayed in Redis"
    proxy.close()


def test_two_machines_and_a_server_that_loses_its_data_twice(server, machine) -> None:
    workers = [machine(server.url, 2) for _ in range(2)]
    count = sum(passes(worker, 8) for worker in workers)
    for _ in range(2):
        server.kill()
        count += sum(passes(worker, 8) for worker in workers)
        server.start()
        for worker in workers:
            until_redis_decides(worker)
        count += sum(passes(worker, 8) for worker in workers)
    assert L < count <= L * (2 + 2)


def test_a_failover_of_sentinel(machine) -> None:
    group = SentinelGroup()
    worker = machine(group.url)
    count = passes(worker, 4)
    group.wait_for_replica()
    group.cut()
    count += passes(worker, 3)
    group.master.kill()
    count += passes(worker, 12)
    assert count == 4 + 3 + L
    group.wait_for_failover()
    until_redis_decides(worker)
    count += passes(worker, 12)
    assert count <= 2 * L + 3
    group.close()


def test_a_failover_in_a_cluster(machine) -> None:
    cluster = RedisCluster(node_timeout=1000)
    worker = machine(cluster.url)
    count = passes(worker, 4)
    master = cluster.owner(tag_of("rate:a"))
    replica = cluster.replicas[cluster.masters.index(master)]
    wait(lambda: cluster.is_complete(replica))
    cluster.cut(master, replica)
    count += passes(worker, 3)
    master.kill()
    count += passes(worker, 12)
    assert count == 4 + 3 + L
    cluster.wait_for_failover(replica)
    until_redis_decides(worker)
    count += passes(worker, 12)
    assert count <= 2 * L + 3
    cluster.close()


def test_a_node_of_a_cluster_that_is_away_and_has_no_replica(machine) -> None:
    cluster = RedisCluster(node_timeout=1000)
    worker = machine(cluster.url)
    count = passes(worker, 4)
    master = cluster.owner(tag_of("rate:a"))
    cluster.replicas[cluster.masters.index(master)].kill()
    master.kill()
    count += passes(worker, 2 * L)
    assert count == 4 + L
    cluster.close()
