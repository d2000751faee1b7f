"""What one command to Redis costs with redis-py's own clients, and with the connections that the
gateway keeps: CPU of this process under gevent, in alternation, with real round trips.

The command is the take of three limits. redis-py's pool and retries are in `Redis.execute_command`,
its redirections in `RedisCluster.execute_command`.

    python -m benchmarks.redis_clients
"""

from __future__ import annotations

import time
from collections.abc import Callable

from gevent import monkey

monkey.patch_all()

from redis import Redis, RedisCluster  # noqa: E402
from redis.cluster import ClusterNode  # noqa: E402

from engine.stores.counters.redis.address import DEFAULTS, parse  # noqa: E402
from engine.stores.counters.redis.counters import client_of  # noqa: E402
from engine.stores.counters.redis.nodes import ClusterNodes  # noqa: E402
from engine.stores.counters.redis.scripts import TAKE  # noqa: E402
from engine.stores.counters.redis.slot import SlotClient  # noqa: E402
from tests.support.redis_cluster import RedisCluster as Nodes  # noqa: E402
from tests.support.redis_server import RedisServer  # noqa: E402

ROUNDS, CALLS = 15, 500
_KEYS = ("{modelway:0}:1875000:rate", "{modelway:0}:112500000:budget", "{modelway:0}:0:slots")
_LIMITS = (10**15, 1875000, 1, 10**15, 112500000, 1000, 10**9, 0, 0)
COMMAND = ("EVALSHA", TAKE.sha, 3, *_KEYS, "", "lease", 30_000_000, 3, *_LIMITS)


def compare(callers: dict[str, Callable[[], object]]) -> None:
    """Prints the microseconds of CPU of a call of each: the least of the rounds."""
    least = dict.fromkeys(callers, float("inf"))
    for _ in range(ROUNDS):
        for name, call in callers.items():
            start = time.process_time()
            for _ in range(CALLS):
                call()
            least[name] = min(least[name], (time.process_time() - start) / CALLS)
    for name, seconds in least.items():
        print(f"{name:<34} {seconds * 1e6:6.1f} us")


def main() -> None:
    server, nodes = RedisServer(), Nodes()
    try:
        our_client = client_of(parse(server.url, DEFAULTS), DEFAULTS)
        cluster = ClusterNodes(parse(nodes.url, DEFAULTS), DEFAULTS)
        slot = SlotClient(cluster, "{modelway:0}", None)
        our_client.call(COMMAND)
        slot.call(COMMAND)
        their_client = Redis.from_url(server.url, protocol=2)
        first = ClusterNode("127.0.0.1", nodes.masters[0].port)
        their_cluster = RedisCluster(startup_nodes=[first], protocol=2)
        compare(
            {
                "server, the gateway's client": lambda: our_client.call(COMMAND),
                "server, redis-py's Redis": lambda: their_client.execute_command(*COMMAND),
                "cluster, the gateway's client": lambda: slot.call(COMMAND),
                "cluster, redis-py's RedisCluster": lambda: their_cluster.execute_command(*COMMAND),
            }
        )
        our_client.close()
        cluster.close()
    finally:
        server.close()
        nodes.close()


if __name__ == "__main__":
    main()
