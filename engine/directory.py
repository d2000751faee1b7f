"""Who calls, by the digest of a token: the config's tokens, then the records, kept for a while.

Each worker has one. It bounds what strangers can make the database do, and goes on with the
tokens it knows while the database is away.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import gevent
from gevent.event import Event

from engine.errors import GatewayError
from engine.stores.records.failures import DatabaseAway, RecordsError
from engine.tokens import Caller

log = logging.getLogger("modelway")

_SIZE = 10_000
_GUESSES = 200.0
"""Look-ups of tokens that turn out unknown, per second and at once, of one worker."""
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
    """Looks tokens up. `find` asks the records: None for an unknown digest, raises RecordsError,
    or ValueError for a record that cannot be used.

    What it says holds for `ttl` seconds; a token seen before goes on working while the records are
    away, up to `keep` seconds after they last confirmed it. `away` tells whether they are; `asked`,
    `failed`, `stale` (answered from memory meanwhile) and `held_off` (guesses that were not looked
    up) count, for the metrics.
    """

    def __init__(
        self,
        configured: Mapping[str, Caller],
        find: Callable[[str], Caller | None],
        *,
        ttl: float = 10.0,
        keep: float = 86_400.0,
        size: int = _SIZE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._configured = configured
        self._find = find
        self._ttl = ttl
        self._keep = keep
        self._size = size
        self._clock = clock
        self._known: OrderedDict[str, _Kept] = OrderedDict()
        self._unknown: OrderedDict[str, _Kept] = OrderedDict()
        self._asking: dict[str, Event] = {}
        self._guesses = _Bucket(_GUESSES, clock)
        self._absence = _Absence(clock)
        self.asked = self.failed = self.stale = self.held_off = 0

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
            kept = self._ask_once(digest)
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

    def _ask_once(self, digest: str) -> _Kept:
        """Ask the records, or wait for the greenlet that asks about the same token."""
        if self.away and digest in self._known:
            # Nobody who can be answered waits to find out whether the records are back.
            if digest not in self._asking and self._absence.may_ask():
                self._asking[digest] = Event()
                gevent.spawn(self._ask_quietly, digest)
            return self._from_memory(digest)
        while (asking := self._asking.get(digest)) is not None:
            asking.wait()
            kept = self._fresh(digest)
            if kept is not None:
                return kept
        if not self._absence.may_ask():
            return self._from_memory(digest)
        self._asking[digest] = Event()
        return self._ask(digest)

    def _ask_quietly(self, digest: str) -> None:
        try:
            self._ask(digest)
        except GatewayError as error:
            log.debug("asked again whether the records are back: %s", error.message)

    def _ask(self, digest: str) -> _Kept:
        try:
            if digest not in self._known and not self._guesses.take():
                self.held_off += 1
                raise _unavailable("Too many unknown tokens were tried at this moment.")
            self.asked += 1
            kept = self._look_up(digest)
        except RecordsError as error:
            self.failed += 1
            self._absence.begins(error)
            return self._from_memory(digest)
        else:
            self._absence.ends()
            self._remember(digest, kept)
            return kept
        finally:
            self._asking.pop(digest).set()

    def _look_up(self, digest: str) -> _Kept:
        limit = gevent.Timeout(_LIMIT)
        try:
            with limit:
                return _Kept(self._find(digest), self._clock())
        except ValueError as error:
            log.error("a token's record makes no sense: %s", error)
            return _Kept(None, self._clock(), str(error))
        except gevent.Timeout as late:
            if late is not limit:
                raise
            raise DatabaseAway(f"no answer within {_LIMIT} s") from late

    def _remember(self, digest: str, kept: _Kept) -> None:
        if kept.caller is not None or kept.broken:
            self._guesses.give_back()
            cache, other = self._known, self._unknown
        else:
            cache, other = self._unknown, self._known
        other.pop(digest, None)
        cache[digest] = kept
        cache.move_to_end(digest)
        if len(cache) > self._size:
            cache.popitem(last=False)

    def _from_memory(self, digest: str) -> _Kept:
        kept = self._known.get(digest)
        if kept is None or self._clock() - kept.at >= self._keep:
            raise _unavailable("The token cannot be checked at this moment.")
        self.stale += 1
        return kept


class _Bucket:
    """Lets `rate` pass per second, and as many at once after a quiet second."""

    def __init__(self, rate: float, clock: Callable[[], float]) -> None:
        self._rate = self._left = rate
        self._clock = clock
        self._at = clock()

    def take(self) -> bool:
        now = self._clock()
        self._left = min(self._rate, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True

    def give_back(self) -> None:
        self._left = min(self._rate, self._left + 1)


class _Absence:
    """Whether the records are away, and when to ask them again: after 1 s, then 2, then 4."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._pause = 0.0
        self._again = 0.0
        self._said = float("-inf")
        self.away = False

    def may_ask(self) -> bool:
        """Whether to ask; while they are away, one may at a time."""
        if not self.away:
            return True
        now = self._clock()
        if now < self._again:
            return False
        self._again = now + 2 * _LIMIT  # until it is known what came of it
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


def _unavailable(message: str) -> GatewayError:
    headers = [("retry-after", "1")]
    return GatewayError(503, "store_unavailable", f"{message} Try again shortly.", headers=headers)


def _broken(why: str) -> GatewayError:
    message = f"The token's record cannot be used: {why}. Ask the platform's operator."
    return GatewayError(500, "token_broken", message, retry=False)
