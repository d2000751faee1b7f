"""The addresses of one upstream as servers of their own, each with a client."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from engine.upstream.client.client import Client
from engine.upstream.client.dial_order import Address, Share


class Replica(NamedTuple):
    """One address: its client, and its share of the requests to those of its priority (0 to 1)."""

    address: Address
    client: Client
    share: float


class Replicas:
    """The replicas of the addresses that a client follows, `most` at most.

    `levels` has them by priority, the first to be asked first; it is empty until an answer is
    known. An address that stays keeps its client, and so its connections.
    """

    def __init__(self, client: Client, most: int) -> None:
        self._client = client
        self._most = most
        self._clients: dict[Address, Client] = {}
        self._listeners: list[Callable[[], None]] = []
        self.levels: Sequence[Sequence[Replica]] = ()

    @property
    def addresses(self) -> Sequence[Address]:
        """The addresses in use."""
        return list(self._clients)

    @property
    def omitted(self) -> int:
        """Addresses of the last answer that are more than `most`."""
        return len(self._client.lookup.addresses) - len(self._clients)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call a function after each change of the addresses."""
        self._listeners.append(listener)

    def update(self) -> None:
        """Take over the addresses that the client knows now."""
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
        """Those that are used, the same ones by every gateway: by priority, then in order."""
        shares = self._client.lookup.shares
        addresses = sorted(
            self._client.lookup.addresses,
            key=lambda address: (shares.get(address, Share()).priority, address),
        )
        return addresses[: self._most]

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
