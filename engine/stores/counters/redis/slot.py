"""Calls to the node of a cluster that has the slot of a hash tag, and the detection of lost data.

Each slot has a dataset id, which moves with the slot to other nodes. It is checked after the first
call to another node, and after all connections to a node broke, as they do when it restarts.
"""

from __future__ import annotations

import logging
import math
import time
from pathlib import Path

from redis.crc import key_slot
from redis.exceptions import AskError, MovedError

from engine.stores.counters.redis.call import NotServed, OnLate, Unsent
from engine.stores.counters.redis.client import RedisClient
from engine.stores.counters.redis.connection import Answer, Command, Dataset, dataset_command
from engine.stores.counters.redis.nodes import ClusterNodes
from engine.values.counters import CountersAway

log = logging.getLogger("modelway")

_REDIRECTIONS = 5


class SlotClient:
    """The `PartitionClient` of a hash tag. In `folder` the workers of a machine share the
    `Dataset`.
    """

    def __init__(self, nodes: ClusterNodes, tag: str, folder: Path | None) -> None:
        self._nodes, self._slot = nodes, key_slot(tag.encode())
        self.name = f"{nodes.name}, slot {self._slot}"
        self._tag = tag
        self._dataset = Dataset(f"{nodes.name} {tag}", folder)
        self._node: RedisClient | None = None
        self._verified: tuple[RedisClient, int] | None = None
        self._available_at = -math.inf

    @property
    def lost_at(self) -> float:
        """When a loss of the slot's data was last detected; now, while that is not verified."""
        if self._node is not None and self._verified != (self._node, self._node.generation):
            return time.monotonic()
        return self._dataset.lost_at

    @property
    def back_at(self) -> float:
        """When the slot was last available again."""
        node_back_at = -math.inf if self._node is None else self._node.back_at
        return max(self.lost_at, self._available_at, node_back_at)

    def raise_if_away(self) -> None:
        """Raise Unsent while the node that has the slot is away."""
        try:
            self._owner().raise_if_away()
        except Unsent:
            self._nodes.refresh_soon()
            raise

    def call(
        self, command: Command, *, resend: bool = True, on_late: OnLate | None = None
    ) -> Answer:
        """As `RedisClient.call`, on the node that has the slot. Raises NotServed if the keys of the
        slot are on two nodes, because it is being moved, or if the cluster is down."""
        answer = self._call(command, resend, on_late)
        node = self._node
        if node is not None and self._verified != (node, node.generation):
            self._verify(node, node.generation)
        return answer

    def close(self) -> None:
        """Do nothing: the owner of the nodes closes them."""

    def _verify(self, node: RedisClient, generation: int) -> None:
        """Check that the node has the data. If it does not answer, `lost_at` stays at now."""
        try:
            answer = self._call(dataset_command(self._tag), True, None)
        except CountersAway as error:
            log.debug("counters: %s", error)
            return
        if self._dataset.update(answer):
            log.warning("counters: %s has lost its counters", self.name)
        self._verified = (node, generation)

    def _call(self, command: Command, resend: bool, on_late: OnLate | None) -> Answer:
        node, asking = self._owner(), False
        for _ in range(_REDIRECTIONS):
            try:
                return node.call(command, resend=resend, on_late=on_late, asking=asking)
            except NotServed as refusal:
                error = refusal.error
                if not isinstance(error, AskError):
                    self._nodes.refresh_soon()
                    raise
                target = self._nodes.node(error.host, error.port, node)
                asking = not isinstance(error, MovedError)
                if not asking:
                    self._nodes.move(self._slot, target)
                node = target if asking else self._owner()
            except CountersAway:
                if node.is_away:
                    self._nodes.refresh_soon()
                raise
        raise Unsent(f"{self.name}: redirected more than {_REDIRECTIONS} times")

    def _owner(self) -> RedisClient:
        node = self._nodes.owner(self._slot)
        if node is not self._node:
            if self._node is not None and self._node.is_away:
                self._available_at = time.monotonic()
            self._node = node
        return node
