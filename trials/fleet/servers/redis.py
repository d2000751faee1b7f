"""Redis: one server, one with replicas under Sentinel, a cluster."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import redis

from trials.fleet.network import Network, Node
from trials.fleet.processes import Process, Processes
from trials.fleet.waiting import until

SERVICE = "counters"
"""The name of the watched server in Sentinel."""
_SCRIPTS = ("evalsha", "eval", "fcall")
_SENTINEL = """
port {port}
bind {address}
dir {folder}
sentinel resolve-hostnames no
sentinel monitor {service} {master} {master_port} 2
sentinel down-after-milliseconds {service} 1000
sentinel failover-timeout {service} 5000
sentinel parallel-syncs {service} 1
"""


class Redis:
    """One server on its node. `keeps` its data over a restart (append-only file)."""

    def __init__(
        self,
        network: Network,
        node: Node,
        processes: Processes,
        folder: Path,
        options: Sequence[str] = (),
        keeps: bool = False,
    ) -> None:
        self.node, self.port = node, network.port(node, 6379)
        self._processes, self._folder = processes, folder
        durable = ["--appendonly", "yes", "--appendfsync", "always"] if keeps else []
        self._options = [*options, *durable]
        self.process = self.start()

    @property
    def url(self) -> str:
        return f"redis://{self.node.address}:{self.port}/0"

    @property
    def client(self) -> redis.Redis:
        return redis.Redis(self.node.address, self.port, socket_timeout=2)

    def start(self) -> Process:
        """Start it (again), and wait until it answers."""
        self._folder.mkdir(exist_ok=True)
        words = ["redis-server", "--port", str(self.port), "--bind", self.node.address]
        words += ["--save", "", "--dir", str(self._folder), "--protected-mode", "no"]
        self.process = self._processes.start(
            [*self.node.prefix, *words, *self._options], self._folder, self._folder / "log"
        )
        until(self.answers, f"{self.node.name} answers")
        return self.process

    def answers(self) -> bool:
        try:
            return bool(self.client.ping())
        except redis.RedisError:
            return False

    def commands(self) -> int:
        """How many scripts it has run for gateways; what a master sends a replica is none."""
        stats = self.client.info("commandstats")
        return sum(stats.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in _SCRIPTS)

    def is_master(self) -> bool:
        return self.answers() and self.client.info("replication")["role"] == "master"

    def is_in_step(self) -> bool:
        """Whether it is a replica that has its master's data; a master waits 5 s before it sends
        the first copy, and without it a replica cannot take over."""
        return self.client.info("replication").get("master_link_status") == "up"


class Sentinels:
    """Three Redis servers, the second and third of which copy the first, and three Sentinels."""

    def __init__(self, network: Network, processes: Processes, folder: Path) -> None:
        folder.mkdir()
        self.servers = [
            Redis(network, network.node(f"redis{n}"), processes, folder / f"redis{n}")
            for n in range(3)
        ]
        self.master = self.servers[0]
        for server in self.servers[1:]:
            server.client.replicaof(self.master.node.address, self.master.port)
        self.addresses = [
            self._sentinel(network, processes, folder, server.node) for server in self.servers
        ]
        until(self._agreed, "three Sentinels know each other and both replicas")

    def _sentinel(
        self, network: Network, processes: Processes, folder: Path, node: Node
    ) -> tuple[str, int]:
        place, port = folder / f"sentinel-{node.name}", network.port(node, 26379)
        place.mkdir()
        file = place / "sentinel.conf"
        file.write_text(
            _SENTINEL.format(
                port=port,
                address=node.address,
                folder=place,
                service=SERVICE,
                master=self.master.node.address,
                master_port=self.master.port,
            )
        )
        processes.start([*node.prefix, "redis-sentinel", str(file)], place, place / "log")
        return node.address, port

    def _agreed(self) -> bool:
        try:
            states = [_state(address) for address in self.addresses]
        except redis.RedisError:
            return False
        known = all(s["num-other-sentinels"] == 2 and s["num-slaves"] == 2 for s in states)
        return known and all(server.is_in_step() for server in self.servers[1:])

    def promoted(self) -> Redis | None:
        """The server that is the master now and was not at the beginning."""
        return next((s for s in self.servers[1:] if s.is_master()), None)


def _state(sentinel: tuple[str, int]) -> dict[str, Any]:
    """What a Sentinel knows of the watched server."""
    client = redis.Redis(*sentinel, socket_timeout=1)
    return cast("dict[str, Any]", client.sentinel_master(SERVICE))


class Cluster:
    """Three masters with a replica each."""

    def __init__(self, network: Network, processes: Processes, folder: Path) -> None:
        folder.mkdir()
        self.servers = []
        for number in range(6):
            node = network.node(f"shard{number}")
            bus = str(network.port(node, 16379))
            options = ["--cluster-enabled", "yes", "--cluster-port", bus]
            options += ["--cluster-node-timeout", "1500"]
            place = folder / node.name
            self.servers.append(Redis(network, node, processes, place, options))
        _create([f"{s.node.address}:{s.port}" for s in self.servers])
        until(self.complete, "the cluster is complete", 60)

    def complete(self, without: Redis | None = None) -> bool:
        """Whether every server (but one) sees all slots served, by others than that one."""
        servers = [server for server in self.servers if server is not without]
        masters = [server for server in servers if server.is_master()]
        try:
            states = [server.client.cluster("info")["cluster_state"] for server in servers]
            return len(masters) == 3 and set(states) == {"ok"}
        except redis.RedisError:
            return False

    def master(self) -> Redis:
        """One of the masters."""
        return next(server for server in self.servers if server.is_master())

    def replicas_ready(self) -> bool:
        """Whether each of three masters has a replica that is in step."""
        return sum(server.is_in_step() for server in self.servers) == 3


def _create(addresses: Sequence[str]) -> None:
    words = ["redis-cli", "--cluster", "create", *addresses, "--cluster-replicas", "1"]
    subprocess.run([*words, "--cluster-yes"], check=True, capture_output=True)


def pause(server: Redis) -> None:
    """Let it hold its connections and answer nothing."""
    os.killpg(server.process.pid, signal.SIGSTOP)
