"""Who calls, by the digest of a token: the config's tokens, then the records, kept for a while.

Each worker has one. Tokens that it does not know are looked up in batches, so that strangers who
try tokens cost the database little, and callers whom this worker sees for the first time are
answered meanwhile. It goes on with the tokens it knows while the database is away.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import gevent

from engine.callers.batch_lookup import Batches
from engine.stores.records.failures import DatabaseAway, RecordsError
from engine.values.caller import Caller
from engine.values.errors import GatewayError

log = logging.getLogger("modelway")

Records = Callable[[Sequence[str]], Mapping[str, Caller | ValueError]]
"""Looks digests up: the callers of those it knows, a ValueError for a record that cannot be used.
Raises RecordsError."""

_SIZE = 10_000
_LIMIT = 2.5
"""Seconds until the records have to answer."""
_LONGEST_PAUSE = 4.0
_SAID_EVERY = 60.0


@dataclass(frozen=True, slots=True)
class _Kept:
    """What the records said, and when: a caller, nobody, or why the record makes no sense."""

    caller: Caller | None
    at: float
    broken: str = ""


class Directory:
    """Looks tokens up: in the config, in memory, or in batches in the records.

    What the records say holds for `ttl` seconds; a token seen before goes on working while they
    are away, up to `keep` seconds after they last confirmed it. `size` bounds the known and the
    unknown tokens that are remembered. `away` tells whether the records are; `asked`, `failed`,
    `unknown` (asked, and not there) and `stale` (answered from memory meanwhile) count, for the
    metrics.
    """

    def __init__(
        self,
        configured: Mapping[str, Caller],
        records: Records,
        *,
        ttl: float = 10.0,
        keep: float = 86_400.0,
        size: int = _SIZE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._configured = configured
        self._records = records
        self._ttl = ttl
        self._keep = keep
        self._size = size
        self._clock = clock
        self._known: OrderedDict[str, _Kept] = OrderedDict()
        self._unknown: OrderedDict[str, _Kept] = OrderedDict()
        self._batches = Batches(self._look_up)
        self._absence = _Absence(clock)
        self.asked = self.failed = self.unknown = self.stale = 0

    @property
    def away(self) -> bool:
        """Whether the records could not be asked the last time."""
        return self._absence.away

    def get(self, digest: str) -> Caller | None:
        """The caller, or None for an unknown token. Raises GatewayError 503 `store_unavailable`
        when only the records could tell and cannot, 500 `token_broken` for a record that makes no
        sense.
        """
        caller = self._configured.get(digest)
        if caller is not None:
            return caller
        kept = self._fresh(digest)
        if kept is None:
            kept = self._ask(digest)
        if kept.broken:
            raise _broken(kept.broken)
        return kept.caller

    def _fresh(self, digest: str) -> _Kept | None:
        """What was said within the last `ttl` seconds."""
        for cache in (self._known, self._unknown):
            kept = cache.get(digest)
            if kept is not None:
                if self._clock() - kept.at >= self._ttl:
                    return None
                cache.move_to_end(digest)
                return kept
        return None

    def _ask(self, digest: str) -> _Kept:
        """Wait for the records, or answer from memory while they are away."""
        if not self._absence.is_due():
            return self._from_memory(digest)
        if self.away and digest in self._known:
            # Nobody who can be answered waits to find out whether the records are back.
            self._batches.start(digest)
            return self._from_memory(digest)
        return self._batches.get(digest) or self._from_memory(digest)

    def _look_up(self, digests: Sequence[str]) -> Mapping[str, _Kept]:
        """What the records say of each digest; nothing at all while they are away."""
        if not self._absence.may_ask():
            return {}
        self.asked += len(digests)
        try:
            found = self._within_limit(digests)
        except RecordsError as error:
            self.failed += len(digests)
            self._absence.begins(error)
            return {}
        self._absence.ends()
        return {digest: self._remember(digest, found.get(digest)) for digest in digests}

    def _within_limit(self, digests: Sequence[str]) -> Mapping[str, Caller | ValueError]:
        limit = gevent.Timeout(_LIMIT)
        try:
            with limit:
                return self._records(digests)
        except gevent.Timeout as late:
            if late is not limit:
                raise
            raise DatabaseAway(f"no answer within {_LIMIT} s") from late

    def _remember(self, digest: str, found: Caller | ValueError | None) -> _Kept:
        if isinstance(found, ValueError):
            log.error("a token's record makes no sense: %s", found)
            kept = _Kept(None, self._clock(), str(found))
        else:
            kept = _Kept(found, self._clock())
        cache, other = self._known, self._unknown
        if found is None:
            self.unknown += 1
            cache, other = other, cache
        other.pop(digest, None)
        cache[digest] = kept
        cache.move_to_end(digest)
        if len(cache) > self._size:
            cache.popitem(last=False)
        return kept

    def _from_memory(self, digest: str) -> _Kept:
        kept = self._known.get(digest)
        if kept is None or self._clock() - kept.at >= self._keep:
            raise _unavailable()
        self.stale += 1
        return kept


class _Absence:
    """Whether the records are away, and when to ask them again: after 1 s, then 2, then 4."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._pause = 0.0
        self._again = 0.0
        self._said = float("-inf")
        self.away = False

    def is_due(self) -> bool:
        """Whether the records answered last, or it is time to try them again."""
        return not self.away or self._clock() >= self._again

    def may_ask(self) -> bool:
        """Whether to ask now; while they are away, one batch at a time may."""
        if not self.is_due():
            return False
        if self.away:
            self._again = self._clock() + 2 * _LIMIT  # until it is known what came of it
        return True

    def begins(self, why: RecordsError) -> None:
        now = self._clock()
        self.away = True
        self._pause = min(_LONGEST_PAUSE, self._pause * 2 or 1.0)
        self._again = now + self._pause
        if now - self._said >= _SAID_EVERY:
            self._said = now
            log.warning("tokens cannot be looked up, those seen before still work: %s", why)

    def ends(self) -> None:
        if self.away:
            log.warning("tokens can be looked up again")
        self.away = False
        self._pause = 0.0
        self._said = float("-inf")


def _unavailable() -> GatewayError:
    message = "The token cannot be checked at this moment. Try again shortly."
    return GatewayError(503, "store_unavailable", message, headers=[("retry-after", "1")])


def _broken(why: str) -> GatewayError:
    message = f"The token's record cannot be used: {why}. Ask the platform's operator."
    return GatewayError(500, "token_broken", message, retry=False)
