"""A Redis Cluster of six nodes: three masters, each with a replica."""

from __future__ import annotations

import time
from collections.abc import Callable
from zlib import crc32

from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from engine.stores.counters.redis.counters import PARTITIONS
from tests.support.ports import free_port
from tests.support.redis_server import RedisServer, RedisTls, command
from tests.support.waiting import Deadline

MASTERS = 3


class RedisCluster:
    """Six nodes; a master that answers no other node for `node_timeout` milliseconds has failed.
    With `tls` they use it among each other, and the URL is that of their ports with TLS."""

    def __init__(self, node_timeout: int = 15_000, tls: RedisTls | None = None) -> None:
        self._tls = tls
        self.nodes = [
            RedisServer(
                *("--cluster-enabled", "yes", "--cluster-node-timeout", str(node_timeout)),
                *("--cluster-port", str(free_port()), "--repl-diskless-sync-delay", "0"),
                *("--cluster-replica-validity-factor", "0"),
                tls=tls,
            )
            for _ in range(2 * MASTERS)
        ]
        self.masters, self.replicas = self.nodes[:MASTERS], self.nodes[MASTERS:]
        step = REDIS_CLUSTER_HASH_SLOTS // MASTERS + 1
        for at, master in enumerate(self.masters):
            last = min((at + 1) * step, REDIS_CLUSTER_HASH_SLOTS) - 1
            master.say(f"CLUSTER ADDSLOTSRANGE {at * step} {last}")
        first = self.nodes[0]
        for epoch, node in enumerate(self.nodes, 1):
            node.say(f"CLUSTER SET-CONFIG-EPOCH {epoch}")
        for node in self.nodes[1:]:
            node.say(f"CLUSTER MEET 127.0.0.1 {self._port(first)} {_bus_port(first)}")
        self._until(lambda node: node.say("CLUSTER NODES").count(b" connected") == len(self.nodes))
        for master, replica in zip(self.masters, self.replicas, strict=True):
            replica.say(f"CLUSTER REPLICATE {self.id_of(master)}")
        self._until(lambda node: b"cluster_state:ok" in node.say("CLUSTER INFO"))
        self._until(lambda node: node.say("CLUSTER NODES").count(b"slave ") == MASTERS)
        for replica in self.replicas:
            wait(lambda replica=replica: b"link_status:up" in replica.say("INFO replication"))

    @property
    def url(self) -> str:
        """The URL of two of the masters."""
        hosts = ",".join(f"127.0.0.1:{self._port(node)}" for node in self.masters[:2])
        return f"redis{'s' if self._tls else ''}+cluster://{hosts}"

    def id_of(self, node: RedisServer) -> str:
        """The name of a node in the cluster."""
        return node.say("CLUSTER MYID").split(b"\r\n")[1].decode()

    def owner(self, tag: str) -> RedisServer:
        """The master that has the slot of a hash tag."""
        slot = key_slot(tag.encode())
        step = REDIS_CLUSTER_HASH_SLOTS // MASTERS + 1
        return self.masters[slot // step]

    def sharer_at(self, master: int) -> str:
        """A sharer whose limits lie on a master."""
        names = (f"s{number}" for number in range(10_000))
        return next(name for name in names if self.owner(tag_of(name)) is self.masters[master])

    def move(self, slot: int, source: RedisServer, target: RedisServer) -> None:
        """Move a slot with its keys to another node, as `redis-cli --cluster reshard` does."""
        target.say(f"CLUSTER SETSLOT {slot} IMPORTING {self.id_of(source)}")
        source.say(f"CLUSTER SETSLOT {slot} MIGRATING {self.id_of(target)}")
        while keys := source.say(f"CLUSTER GETKEYSINSLOT {slot} 10").split(b"\r\n")[2::2]:
            for key in keys:
                source.say(f"MIGRATE 127.0.0.1 {self._port(target)} {key.decode()} 0 5000")
        self.assign(slot, target)

    def assign(self, slot: int, target: RedisServer) -> None:
        """End a move: wait until all masters know the new epoch of the target. A master that does
        not would take the slot back."""
        name = self.id_of(target)
        others = [master for master in self.masters if master is not target]
        for node in (target, *others):
            node.say(f"CLUSTER SETSLOT {slot} NODE {name}")
        wait(lambda: len({_epoch(node, name) for node in self.masters}) == 1)

    def flush(self) -> None:
        """Forget all data."""
        for master in self.masters:
            master.say("FLUSHALL")

    def is_complete(self, replica: RedisServer) -> bool:
        """Whether a replica has everything that its master has."""
        master = self.masters[self.replicas.index(replica)]
        return offset(replica) == offset(master)

    def cut(self, master: RedisServer, replica: RedisServer) -> None:
        """Stop the replication of a master to its replica."""
        master.say("ACL SETUSER default -psync -sync")
        master.say("CLIENT KILL TYPE replica")
        wait(lambda: b"master_link_status:down" in replica.say("INFO replication"))

    def wait_for_failover(self, replica: RedisServer) -> None:
        """Wait until the replica is the master for each node with slots, and their cluster state is
        ok. Its former master must have ended."""
        wait(lambda: b"role:master" in replica.say("INFO replication"))
        name, failed = self.id_of(replica), self.masters[self.replicas.index(replica)]
        for node in (replica, *(master for master in self.masters if master is not failed)):
            wait(lambda node=node: b"master" in _line(node, name).split()[2])
            wait(lambda node=node: b"cluster_state:ok" in node.say("CLUSTER INFO"))

    def close(self) -> None:
        for node in self.nodes:
            node.close()

    def _port(self, node: RedisServer) -> int:
        return node.port if self._tls is None else node.tls_port

    def _until(self, condition: Callable[[RedisServer], bool]) -> None:
        for node in self.nodes:
            wait(lambda node=node: condition(node))


def offset(server: RedisServer) -> bytes:
    """The replication offset of a server."""
    return server.say("INFO replication").partition(b"master_repl_offset:")[2].split()[0]


def tag_of(sharer: str) -> str:
    """The hash tag of the limits of a sharer."""
    return f"{{modelway:{crc32(sharer.encode()) % PARTITIONS}}}"


def _epoch(node: RedisServer, name: str) -> bytes:
    """The epoch of the node with this name, by the table of another node."""
    return _line(node, name).split()[6]


def _line(node: RedisServer, name: str) -> bytes:
    """The line of the node with this name in the table of another node."""
    lines = node.say("CLUSTER NODES").splitlines()
    return next(line for line in lines if line.startswith(name.encode()))


def _bus_port(node: RedisServer) -> int:
    answer = command(node.port, "CONFIG GET cluster-port")
    return int(answer.split(b"\r\n")[-2])


def wait(condition: Callable[[], bool]) -> None:
    """Wait for a condition on servers that may not answer yet. AssertionError after 30 s."""
    deadline = Deadline(30)
    while True:
        try:
            if condition():
                return
        except OSError:
            pass
        assert not deadline.passed(), "the servers do not agree"
        time.sleep(0.02)
