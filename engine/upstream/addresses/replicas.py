"""The addresses of one upstream, each with a client of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from engine.upstream.client.client import Client
from engine.upstream.client.dial_order import Address, Share


class Replica(NamedTuple):
    """One address: its client, and its share (0 to 1) of the requests to its priority level."""

    address: Address
    client: Client
    share: float


class Replicas:
    """The replicas of the addresses that a client follows, at most `max_addresses`.

    `levels` has them by priority, the level to be asked first at the start; it is empty until the
    first lookup succeeds. An address that stays keeps its client, and so its connections.
    """

    def __init__(self, client: Client, max_addresses: int) -> None:
        self._client = client
        self._max_addresses = max_addresses
        self._clients: dict[Address, Client] = {}
        self._listeners: list[Callable[[], None]] = []
        self.levels: Sequence[Sequence[Replica]] = ()

    @property
    def addresses(self) -> Sequence[Address]:
        """The addresses in use."""
        return list(self._clients)

    @property
    def omitted(self) -> int:
        """The number of addresses in the last answer beyond `max_addresses`."""
        return len(self._client.lookup.addresses) - len(self._clients)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call a function after each change of the addresses."""
        self._listeners.append(listener)

    def update(self) -> None:
        """Use the current addresses of the client; close the clients of those that left."""
        shares = self._client.lookup.shares
        current = [(address, shares.get(address, Share())) for address in self._addresses()]
        before = self._clients
        self._clients = {
            address: before.get(address) or self._client.at(address) for address, _ in current
        }
        self.levels = [
            self._level([each for each in current if each[1].priority == priority])
            for priority in sorted({share.priority for _, share in current})
        ]
        for listener in self._listeners:
            listener()
        for address, client in before.items():
            if address not in self._clients:
                client.close()

    def _addresses(self) -> Sequence[Address]:
        """The addresses to use: the first ones by priority and address, so that all gateways use
        the same."""
        shares = self._client.lookup.shares
        addresses = sorted(
            self._client.lookup.addresses,
            key=lambda address: (shares.get(address, Share()).priority, address),
        )
        return addresses[: self._max_addresses]

    def _level(self, shares: Sequence[tuple[Address, Share]]) -> Sequence[Replica]:
        total = sum(share.weight for _, share in shares)
        return [
            Replica(
                address,
                self._clients[address],
                share.weight / total if total else 1 / len(shares),
            )
            for address, share in shares
        ]
