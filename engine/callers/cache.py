"""The token cache of a worker: finds the caller for the digest of a token.

Tokens of the config need no lookup. Tokens in the records are cached, and looked up in batches, so
that unknown tokens cost the database little. Cached tokens still work while the database is
unavailable.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from cachetools import LRUCache
from msgspec import Struct

from engine.callers.batch_lookup import Batches, within
from engine.config.teams import NO_TEAMS, Teams
from engine.stores.database.failures import DatabaseError
from engine.values.caller import Caller
from engine.values.errors import GatewayError

log = logging.getLogger("modelway")

Records = Callable[[Sequence[str]], Mapping[str, Caller | ValueError]]
"""Looks up digests: returns a caller for each that exists, or a ValueError if its record is
invalid. Raises DatabaseError."""

_CACHE_SIZE = 10_000
_STALE_TTL = 86_400.0
_WARNING_INTERVAL = 60.0


class _Entry(Struct, frozen=True):
    """The result of a lookup and its time: a caller, None for an unknown token, or the `error` of
    an invalid record."""

    caller: Caller | None
    time: float
    error: str = ""


class TokenCache:
    """Finds the caller of a token: in the config, in memory, or in batches in the records.

    A result is valid for `ttl` seconds. While the records are unavailable (`away`), a cached token
    is valid for a day after its last lookup. A lookup fails after `timeout` seconds; after
    failures, the next one starts within `max_backoff` seconds. `size` bounds the cached
    tokens that exist, and separately the cached unknown ones. Callers of the records become members
    of their `teams`.

    Counts for the metrics: `lookups` of digests, those that `failed`, those that were `unknown`,
    and the `stale` results that were used.
    """

    def __init__(
        self,
        configured: Mapping[str, Caller],
        records: Records,
        *,
        ttl: float = 10.0,
        timeout: float = 2.5,
        max_backoff: float = 4.0,
        size: int = _CACHE_SIZE,
        clock: Callable[[], float] = time.monotonic,
        teams: Teams = NO_TEAMS,
    ) -> None:
        self._configured = configured
        self._teams = teams
        self._records = records
        self._ttl = ttl
        self._timeout = timeout
        self._clock = clock
        self._callers: LRUCache[str, _Entry] = LRUCache(size)
        self._no_callers: LRUCache[str, _Entry] = LRUCache(size)
        self._batches = Batches(self._look_up)
        self._backoff = _Backoff(clock, max_backoff, max_lookup=2 * timeout)
        self.lookups = self.failed = self.unknown = self.stale = 0

    @property
    def away(self) -> bool:
        """Whether the last lookup failed."""
        return self._backoff.away

    def get(self, digest: str) -> Caller | None:
        """The caller, or None for an unknown token.

        Raises GatewayError 503 `store_unavailable` if only the records know the token and they are
        unavailable, 500 `token_broken` for an invalid record.
        """
        caller = self._configured.get(digest)
        if caller is not None:
            return caller
        entry = self._fresh(digest)
        if entry is None:
            entry = self._wait(digest)
        if entry.error:
            raise _invalid_record(entry.error)
        return entry.caller

    def refresh(self, digests: Collection[str], max_age: float) -> dict[str, Caller | None]:
        """What the records say of these digests, looked up again if that is older than `max_age`
        seconds; None for an unknown token. Digests that cannot be looked up have their last entry;
        those without one, and those of an invalid record, are left out.
        """
        if self._backoff.is_over():
            old = [digest for digest in digests if not self._is_younger(digest, max_age)]
            for result in [self._batches.start(digest) for digest in old]:
                result.get()
        entries = ((digest, self._entry(digest)) for digest in digests)
        return {d: entry.caller for d, entry in entries if entry is not None and not entry.error}

    def _entry(self, digest: str) -> _Entry | None:
        entry = self._callers.get(digest)
        return entry if entry is not None else self._no_callers.get(digest)

    def _is_younger(self, digest: str, age: float) -> bool:
        entry = self._entry(digest)
        return entry is not None and self._clock() - entry.time < age

    def _fresh(self, digest: str) -> _Entry | None:
        """An entry that is younger than `ttl`."""
        for cache in (self._callers, self._no_callers):
            entry = cache.get(digest)
            if entry is not None:
                return entry if self._clock() - entry.time < self._ttl else None
        return None

    def _wait(self, digest: str) -> _Entry:
        """Wait for a lookup; while the records are unavailable, use the cached entry."""
        if not self._backoff.is_over():
            return self._stale(digest)
        if self.away and digest in self._callers:
            # A cached token does not wait for the lookup that probes the records.
            self._batches.start(digest)
            return self._stale(digest)
        return self._batches.get(digest) or self._stale(digest)

    def _look_up(self, digests: Sequence[str]) -> Mapping[str, _Entry]:
        """The entries of these digests; none while the records are unavailable."""
        if not self._backoff.start_lookup():
            return {}
        self.lookups += len(digests)
        try:
            callers = within(self._timeout, partial(self._records, digests))
        except DatabaseError as error:
            self.failed += len(digests)
            self._backoff.lookup_failed(error)
            return {}
        self._backoff.lookup_succeeded()
        return {digest: self._store(digest, callers.get(digest)) for digest in digests}

    def _store(self, digest: str, result: Caller | ValueError | None) -> _Entry:
        if isinstance(result, ValueError):
            log.error("a token's record is invalid: %s", result)
            entry = _Entry(None, self._clock(), str(result))
        else:
            caller = None if result is None else self._teams.member(result)
            entry = _Entry(caller, self._clock())
        cache, opposite = self._callers, self._no_callers
        if result is None:
            self.unknown += 1
            cache, opposite = opposite, cache
        opposite.pop(digest, None)
        cache[digest] = entry
        return entry

    def _stale(self, digest: str) -> _Entry:
        entry = self._callers.get(digest)
        if entry is None or self._clock() - entry.time >= _STALE_TTL:
            raise _unavailable()
        self.stale += 1
        return entry


class _Backoff:
    """Exponential backoff of lookups after a failure: 1 s, then 2, then 4, up to `max_pause`. A
    lookup takes at most `max_lookup` seconds."""

    def __init__(self, clock: Callable[[], float], max_pause: float, max_lookup: float) -> None:
        self._clock = clock
        self._max_pause = max_pause
        self._max_lookup = max_lookup
        self._pause = 0.0
        self._end = 0.0
        self._last_warning = float("-inf")
        self.away = False

    def is_over(self) -> bool:
        """Whether a lookup may start."""
        return not self.away or self._clock() >= self._end

    def start_lookup(self) -> bool:
        """Whether a lookup may start now; after a failure, one at a time."""
        if not self.is_over():
            return False
        if self.away:
            self._end = self._clock() + self._max_lookup  # no second lookup before its result
        return True

    def lookup_failed(self, error: DatabaseError) -> None:
        now = self._clock()
        self.away = True
        self._pause = min(self._max_pause, self._pause * 2 or 1.0)
        self._end = now + self._pause
        if now - self._last_warning >= _WARNING_INTERVAL:
            self._last_warning = now
            log.warning("tokens cannot be looked up, cached ones still work: %s", error)

    def lookup_succeeded(self) -> None:
        if self.away:
            log.warning("tokens can be looked up again")
        self.away = False
        self._pause = 0.0
        self._last_warning = float("-inf")


def _unavailable() -> GatewayError:
    message = "The token cannot be checked at this moment. Try again shortly."
    return GatewayError(503, "store_unavailable", message, headers=[("retry-after", "1")])


def _invalid_record(error: str) -> GatewayError:
    message = f"The token's record is invalid: {error}. Ask the platform's operator."
    return GatewayError(500, "token_broken", message, retry=False)
