"""Token buckets: a rate limit of events, and one of unknown tokens by client address."""

from __future__ import annotations

import time
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

from cachetools import LRUCache


class TokenBucket:
    """`burst` events at once, and then `rate` a second. `now` is in seconds."""

    __slots__ = ("_as_of", "_burst", "_level", "_rate")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate = rate
        self._burst = self._level = burst
        self._as_of = now

    def take(self, now: float) -> float:
        """Count an event. Returns 0 or, above the limit, the seconds until the next is allowed."""
        self._level = min(self._burst, self._level + (now - self._as_of) * self._rate)
        self._as_of = now
        if self._level < 1:
            return (1 - self._level) / self._rate
        self._level -= 1
        return 0.0


_RATE = 10.0
_BURST = 100.0
_CLIENTS = 10_000


class GuessLimit:
    """Token buckets of `burst` guesses, refilled with `rate` per second, for the last `size`
    clients. A client is an IPv4 address or an IPv6 /64.

    It changes only how an unknown token is refused; every token is still looked up. So one client
    behind a shared address (NAT, an untrusted proxy) cannot lock out the others.
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
        self._clock = clock
        self._buckets: LRUCache[str, TokenBucket] = LRUCache(size)

    def take(self, address: str) -> float:
        """Count an unknown token. Returns 0, or the seconds until the client may try again."""
        client, now = client_of(address), self._clock()
        bucket = self._buckets.setdefault(client, TokenBucket(self._rate, self._burst, now))
        return bucket.take(now)


def client_of(address: str) -> str:
    """The client of an address: IPv4 unchanged, of IPv6 the /64, "" for text that is no address."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is None:
            return str(IPv6Address(int(parsed) >> 64 << 64))
        parsed = parsed.ipv4_mapped
    return str(parsed)
