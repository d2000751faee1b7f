"""A limit of unknown tokens: a token bucket for each client address."""

from __future__ import annotations

import time
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

from cachetools import LRUCache

from engine.values.token_bucket import TokenBucket

_RATE = 10.0
_BURST = 100.0
_CLIENTS = 10_000


class GuessLimit:
    """Token buckets of `burst` guesses, refilled with `rate` per second, for the last `size`
    clients. A client is an IPv4 address or an IPv6 /64.

    It decides how an unknown token is refused, never whether a token is looked up: one client
    behind an address (a NAT, a proxy that is not trusted) cannot lock out the others.
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
