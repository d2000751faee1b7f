"""The nodes of a Redis Cluster, and the map of slots to nodes.

The map is read before the first call, after a permanent redirection (MOVED), and repeatedly while a
node is away, until another one has its slots (Redis Cluster specification, *Client and server
roles*).
"""

from __future__ import annotations

from bisect import bisect_left

import gevent
from gevent.lock import BoundedSemaphore

from engine.stores.counters.redis.address import Address, Endpoint, RedisOptions
from engine.stores.counters.redis.call import Unsent
from engine.stores.counters.redis.client import RedisClient
from engine.stores.counters.redis.connection import Answer
from engine.stores.counters.redis.server import FixedServer
from engine.values.counters import CountersAway

REFRESH_INTERVAL = 0.5
"""Seconds between two reads of the map while a node is away."""


class ClusterNodes:
    """The nodes of the cluster at `address`: a client for each, made at its first use."""

    def __init__(self, address: Address, options: RedisOptions) -> None:
        self._endpoint, self._options = address.endpoints[0], options
        self.name = f"redis cluster at {', '.join(each.name for each in address.endpoints)}"
        self._hosts: dict[RedisClient, str] = {}
        self._seeds = [self._client(each) for each in address.endpoints]
        self._nodes: dict[tuple[str, int], RedisClient] = {}
        self._ends: list[int] = []  # the last slot of each range, ascending
        self._owners: list[tuple[int, RedisClient]] = []  # its first slot and its node
        self._moved: dict[int, RedisClient] = {}  # slots that moved since the map was read
        self._asking = BoundedSemaphore(1)
        self._version = 0
        self._refresher: gevent.Greenlet[[], None] | None = None

    def owner(self, slot: int) -> RedisClient:
        """The node that has a slot. Raises Unsent if none is known."""
        if (moved := self._moved.get(slot)) is not None:
            return moved
        if not self._version:
            self.refresh()
        at = bisect_left(self._ends, slot)
        if at == len(self._ends) or self._owners[at][0] > slot:
            self.refresh_soon()
            raise Unsent(f"{self.name}: no node has slot {slot}")
        return self._owners[at][1]

    def node(self, host: str, port: int, named_by: RedisClient) -> RedisClient:
        """The node at an address that another one named: at that one's host if it named none (Redis
        Cluster specification, *Client and server roles*, unknown endpoints)."""
        host = host or self._hosts[named_by]
        if (host, port) not in self._nodes:
            self._nodes[host, port] = self._client(self._endpoint.at(host, port))
        return self._nodes[host, port]

    def move(self, slot: int, node: RedisClient) -> None:
        """Set the owner of a slot, and read the map soon: other slots have probably moved too."""
        self._moved[slot] = node
        self.refresh_soon()

    def masters(self) -> list[RedisClient]:
        """All nodes that have slots. Raises Unsent when no node answers."""
        if not self._version:
            self.refresh()
        return list(dict.fromkeys(node for _, node in self._owners))

    def refresh(self) -> None:
        """Read the map. Raises Unsent if no node answers."""
        version = self._version
        with self._asking:
            if version != self._version:
                return  # another greenlet has asked meanwhile
            nodes = [*self._nodes.values(), *self._seeds]
            first = self._version % len(nodes)  # rotate: an isolated node has an old map
            for node in (*nodes[first:], *nodes[:first]):
                try:
                    self._read(node.call(("CLUSTER", "SLOTS")), node)
                except CountersAway as error:
                    reason = error
                    continue
                self._version += 1
                return
        raise Unsent(f"{self.name}: no node answers: {reason}")

    def refresh_soon(self) -> None:
        """Read the map in a greenlet, until no node with slots is away."""
        if self._refresher is None or self._refresher.dead:
            self._refresher = gevent.spawn(self._refresh_until_complete)

    def close(self) -> None:
        """Close all connections. A later call opens new ones."""
        if self._refresher is not None:
            self._refresher.kill()
        for node in (*self._nodes.values(), *self._seeds):
            node.close()

    def _refresh_until_complete(self) -> None:
        while True:
            try:
                self.refresh()
                if self._ends and not any(node.is_away for node in self.masters()):
                    return
            except Unsent:
                pass
            gevent.sleep(REFRESH_INTERVAL)

    def _read(self, ranges: list[Answer], source: RedisClient) -> None:
        """The answer to CLUSTER SLOTS: for each range its first and last slot, and its master."""
        owners = []
        for first, last, (host, port, *_), *_ in ranges:
            owners.append((last, first, self.node((host or b"").decode(), port, source)))
        owners.sort(key=lambda owner: owner[0])
        self._ends = [last for last, _, _ in owners]
        self._owners = [(first, node) for _, first, node in owners]
        self._moved = {}
        for address, node in list(self._nodes.items()):
            if all(node is not owner for _, owner in self._owners):
                del self._nodes[address], self._hosts[node]
                node.close()

    def _client(self, endpoint: Endpoint) -> RedisClient:
        client = RedisClient(FixedServer(endpoint), self._options)
        self._hosts[client] = endpoint.host
        return client
