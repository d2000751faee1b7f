"""Addresses of an upstream, and the order in which a new connection tries them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import gevent.socket

_AVOIDED = 10.0
"""Seconds for which an address that refused a connection is tried last."""


class Address(NamedTuple):
    """An IP address with its port. `scope` is the interface of a link-local IPv6 address."""

    host: str
    port: int
    scope: int = 0

    @property
    def family(self) -> int:
        """AF_INET or AF_INET6."""
        return gevent.socket.AF_INET6 if ":" in self.host else gevent.socket.AF_INET

    @property
    def sockaddr(self) -> tuple[Any, ...]:
        """The address as `connect` takes it."""
        if ":" in self.host:
            return self.host, self.port, 0, self.scope
        return self.host, self.port

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Share(NamedTuple):
    """The share of requests that an address gets: its `weight` among those of its `priority`.
    Addresses with a higher number are asked after all of a lower one."""

    weight: float = 1.0
    priority: int = 0


class Answer(NamedTuple):
    """The result of a lookup: addresses in order of preference, valid for so many `seconds`. An
    address that is not in `shares` has a `Share()`."""

    addresses: Sequence[Address]
    seconds: float
    shares: Mapping[Address, Share] = {}


@dataclass(slots=True)
class LookupStatus:
    """The `addresses` in use with their `shares`, the number of failed lookups, and the `error` of
    the last lookup, "" if it succeeded. `time` is the monotonic time of the last answer."""

    addresses: tuple[Address, ...] = ()
    shares: Mapping[Address, Share] = field(default_factory=dict)
    failures: int = 0
    error: str = ""
    time: float = 0.0


class AddressSource(Protocol):
    """The addresses of an upstream, for new connections."""

    @property
    def status(self) -> LookupStatus: ...

    def next(self) -> Sequence[Address]:
        """The addresses for a new connection, in the order in which to try them. OSError if none
        is known."""
        ...

    def refused(self, address: Address) -> None:
        """Record that the address could not be connected to."""


class DialOrder:
    """Addresses in rotation, so that connections are spread over all of them.

    The family that comes first stays first, and the two families alternate (RFC 8305). Addresses
    that refused a connection a moment ago come last.
    """

    def __init__(self, clock: Callable[[], float], start: int = 0) -> None:
        self._clock = clock
        self._turn = start
        self._avoided: dict[Address, float] = {}
        self.addresses: tuple[Address, ...] = ()

    def replace(self, addresses: Sequence[Address]) -> None:
        """Use these addresses from now on."""
        self.addresses = tuple(addresses)
        self._avoided = {a: until for a, until in self._avoided.items() if a in self.addresses}

    def next(self) -> list[Address]:
        """All addresses for one more connection, in the order in which to try them."""
        if len(self.addresses) < 2:
            return list(self.addresses)
        family = self.addresses[0].family
        first = self._rotated([a for a in self.addresses if a.family == family])
        second = self._rotated([a for a in self.addresses if a.family != family])
        self._turn += 1
        both = [a for pair in zip(first, second, strict=False) for a in pair]
        ordered = [*both, *first[len(second) :], *second[len(first) :]]
        if self._avoided:
            now = self._clock()
            ordered.sort(key=lambda address: self._avoided.get(address, now) > now)
        return ordered

    def _rotated(self, addresses: list[Address]) -> list[Address]:
        start = self._turn % len(addresses) if addresses else 0
        return addresses[start:] + addresses[:start]

    def refused(self, address: Address) -> None:
        """Try an address last for a while."""
        if address in self.addresses:
            self._avoided[address] = self._clock() + _AVOIDED


class FixedAddress:
    """One address without lookups. `on_refusal` is called if it cannot be connected to."""

    def __init__(
        self, address: Address, on_refusal: Callable[[Address], None] | None = None
    ) -> None:
        self._addresses = (address,)
        self._on_refusal = on_refusal
        self.status = LookupStatus(self._addresses)

    def next(self) -> Sequence[Address]:
        return self._addresses

    def refused(self, address: Address) -> None:
        if self._on_refusal is not None:
            self._on_refusal(address)
