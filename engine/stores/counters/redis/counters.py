"""Counters of many machines in one Redis server, or in the master that Sentinels name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.stores.counters.redis.address import DEFAULTS, Address, RedisOptions, parse
from engine.stores.counters.redis.client import RedisClient
from engine.stores.counters.redis.connection import Dataset
from engine.stores.counters.redis.partition import LEASE, Partition
from engine.stores.counters.redis.server import FixedServer, SentinelMaster


class RedisCounters(Partition):
    """Counters in the server at `url`, or in the master of Sentinels; `ClusterCounters` for a
    cluster. Raises ValueError for another URL. In `folder` the workers of a machine share the
    `Dataset`; `lease` and `clock` are those of a partition."""

    def __init__(
        self,
        url: str,
        options: RedisOptions = DEFAULTS,
        *,
        lease: float = LEASE,
        folder: Path | None = None,
        clock: Callable[[], int] | None = None,
    ) -> None:
        client = client_of(parse(url, options), options, folder)
        super().__init__(client, tag=options.tag, lease=lease, clock=clock)


def client_of(address: Address, options: RedisOptions, folder: Path | None = None) -> RedisClient:
    """The client of one server: a fixed one, or the current master of Sentinels."""
    is_fixed = address.kind == "server"
    server = FixedServer(address.endpoints[0]) if is_fixed else SentinelMaster(address)
    return RedisClient(server, options, Dataset(f"{server.name} {options.tag}", folder))
