"""Counters of many machines in one Redis server, in the master that Sentinels name, or in a
cluster.

In a Redis Cluster a take is atomic within a slot; a request takes slot by slot.

The limits of one sharer (a token, a route, a model) are in one of `PARTITIONS` hash tags. The laws:

- A request takes from its slots one after another, in the same order as all other requests. If one
denies, or its node does not answer, the takes before it are reverted a moment later. - So no limit
ever lets more than its amount pass. A limit may deny a request although enough is left, while
another request holds a part of it that a later slot then denies. - While a slot moves to another
node, its limits are taken one by one, by the same laws. - If a node is away, the limits on other
nodes stay exact; `on_store_failure` decides a request that needs the node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from redis.exceptions import TryAgainError

from engine.stores.counters.redis.address import DEFAULTS, Address, RedisOptions, parse
from engine.stores.counters.redis.call import NotServed
from engine.stores.counters.redis.client import RedisClient
from engine.stores.counters.redis.connection import Dataset
from engine.stores.counters.redis.nodes import ClusterNodes
from engine.stores.counters.redis.partition import LEASE, Partition
from engine.stores.counters.redis.server import FixedServer, SentinelMaster
from engine.stores.counters.redis.slot import SlotClient
from engine.values.counters import CountersAway, Limit, LimitState, TakeResult, refusal


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


PARTITIONS = 256
"""The number of hash tags: enough for an even spread over many nodes, few enough that most requests
need one."""


class _Share(NamedTuple):
    """The limits of a request that lie in one partition, and their indices."""

    partition: int
    limits: tuple[Limit, ...]
    indices: tuple[int, ...]
    alone: bool = False
    """The command has only the key of this limit."""


class _ShareTake(NamedTuple):
    share: _Share
    result: TakeResult


class ClusterCounters:
    """Counters in the cluster at `url`. Raises ValueError for another URL. `folder`, `lease` and
    `clock` are those of RedisCounters."""

    def __init__(
        self,
        url: str,
        options: RedisOptions = DEFAULTS,
        *,
        lease: float = LEASE,
        folder: Path | None = None,
        clock: Callable[[], int] | None = None,
    ) -> None:
        self._nodes = ClusterNodes(parse(url, options), options)
        self._options, self._lease, self._folder, self._clock = options, lease, folder, clock
        self.partitions: dict[int, Partition] = {}

    def ping(self) -> None:
        """Raise CountersAway if a node that has slots does not answer."""
        try:
            for node in self._nodes.masters():
                node.call(("PING",))
        except CountersAway:
            self._nodes.refresh_soon()
            raise

    def in_doubt(self, limits: tuple[Limit, ...]) -> tuple[int, ...]:
        """As in RedisCounters, for each limit by its own slot."""
        return tuple(
            share.indices[at]
            for share in _shares_of(limits)
            for at in self._partition(share.partition).in_doubt(share.limits)
        )

    def take(self, limits: tuple[Limit, ...], costs: Sequence[int]) -> TakeResult:
        """As `Counters.take` says, by the laws above."""
        shares = list(reversed(_shares_of(limits)))
        takes: list[_ShareTake] = []
        try:
            while shares:
                share = shares.pop()
                try:
                    result = self._take(share, costs)
                except NotServed as error:
                    if share.alone or not isinstance(error.error, TryAgainError):
                        raise
                    shares += reversed(_split(share))
                    continue
                if result.denied is not None:
                    return self._refusal(share, result, takes, shares, costs)
                takes.append(_ShareTake(share, result))
        except BaseException:
            self._give_back(takes)
            raise
        states = _states(takes, len(limits))
        remaining, resets, _ = map(list, zip(*states, strict=True))
        return TakeResult(None, remaining, resets, takes)

    def settle(self, receipt: object, costs: Sequence[int]) -> None:
        """As `Counters.settle` says."""
        if not isinstance(receipt, list):
            return
        for share, result in receipt:
            its_costs = [costs[at] for at in share.indices]
            self._partition(share.partition).settle(result.receipt, its_costs)

    def close(self) -> None:
        """Send queued corrections, and close the connections."""
        for partition in self.partitions.values():
            partition.close()
        self._nodes.close()

    def _partition(self, number: int) -> Partition:
        partition = self.partitions.get(number)
        if partition is None:
            tag = self._options.tag_of(number)
            client = SlotClient(self._nodes, tag, self._folder)
            partition = Partition(client, tag=tag, lease=self._lease, clock=self._clock)
            self.partitions[number] = partition
        return partition

    def _take(self, share: _Share, costs: Sequence[int]) -> TakeResult:
        its_costs = [costs[at] for at in share.indices]
        partition = self._partition(share.partition)
        return partition.take(share.limits, its_costs, with_corrections=not share.alone)

    def _give_back(self, takes: Sequence[_ShareTake]) -> None:
        for share, result in takes:
            nothing = [0] * len(share.indices)
            self._partition(share.partition).settle(result.receipt, nothing)

    def _refusal(
        self,
        share: _Share,
        result: TakeResult,
        takes: Sequence[_ShareTake],
        shares: Sequence[_Share],
        costs: Sequence[int],
    ) -> TakeResult:
        """The result if a share denies: `takes` are given back, and the limits of the remaining
        `shares` are read without taking."""
        self._give_back(takes)
        looks = [_ShareTake(share, result)]
        for other in shares:
            try:
                looks.append(_ShareTake(other, self._take(other, [0] * len(costs))))
            except CountersAway:
                continue
        states = _states([*takes, *looks], len(costs))
        for index in (index for other in takes for index in other.share.indices):
            remaining = states[index].remaining + costs[index]
            states[index] = states[index]._replace(remaining=remaining)
        assert result.denied is not None
        return refusal(share.indices[result.denied], states)


def _states(takes: Sequence[_ShareTake], count: int) -> list[LimitState]:
    """The states of `count` limits; nothing remains of those whose node did not answer."""
    states = [LimitState(0, 0.0)] * count
    for share, result in takes:
        waits = result.waits or [0.0] * len(share.indices)
        its_states = zip(result.remaining, result.resets, waits, strict=True)
        for index, (remaining, reset, wait) in zip(share.indices, its_states, strict=True):
            states[index] = LimitState(remaining, reset, wait)
    return states


@lru_cache(maxsize=4096)
def _shares_of(limits: tuple[Limit, ...]) -> tuple[_Share, ...]:
    """The limits by the partition of their sharer, in the order of the partitions."""
    indices: dict[int, list[int]] = {}
    for index, limit in enumerate(limits):
        sharer = limit.key.rpartition("|")[2]
        indices.setdefault(crc32(sharer.encode()) % PARTITIONS, []).append(index)
    return tuple(
        _Share(partition, tuple(limits[at] for at in its_indices), tuple(its_indices))
        for partition, its_indices in sorted(indices.items())
    )


def _split(share: _Share) -> list[_Share]:
    """The limits of a share one by one."""
    return [
        _Share(share.partition, (limit,), (index,), alone=True)
        for limit, index in zip(share.limits, share.indices, strict=True)
    ]
