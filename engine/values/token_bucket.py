"""How many unknown tokens a client may try: a token bucket for each client address."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

_RATE = 10.0
_BURST = 100.0
_CLIENTS = 10_000


class GuessLimit:
    """Token buckets of `burst` guesses, refilled by `rate` a second, for the `size` clients that
    guessed last. A client is an IPv4 address or an IPv6 /64.

    It decides how an unknown token is refused, never whether a token is looked up: callers behind
    one address (a NAT, a proxy that is not listed) are not locked out by a stranger among them.
    """

    def __init__(
        self,
        rate: float = _RATE,
        burst: float = _BURST,
        size: int = _CLIENTS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rate = rate
        self._burst = burst
        self._size = size
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # left, as of

    def take(self, address: str) -> float:
        """Count an unknown token. Returns 0, or the seconds until the client may try another."""
        client, now = client_of(address), self._clock()
        left, at = self._buckets.pop(client, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._rate)
        allowed = left >= 1
        self._buckets[client] = (left - 1 if allowed else left, now)
        if len(self._buckets) > self._size:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self._rate


def client_of(address: str) -> str:
    """The client that an address belongs to: IPv4 as it is, IPv6 by its /64, "" for no address."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is None:
            return str(IPv6Address(int(parsed) >> 64 << 64))
        parsed = parsed.ipv4_mapped
    return str(parsed)
