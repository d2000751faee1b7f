"""What a caller has used, and what is left of its limits: for the caller itself. The ledger's sums
and last requests are cached, and one query of each caller is made at a time, because no limit
bounds these requests."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from cachetools import LRUCache, TTLCache
from gevent.lock import BoundedSemaphore

from engine.callers.limits.held_limits import OwnLimits
from engine.callers.limits.limit_warnings import limit_fields
from engine.exchange.stage_services import UsageSums
from engine.stores.database.failures import DatabaseError
from engine.stores.usage_query import TAG, UsageQuery
from engine.values.caller import Caller
from engine.values.counters import Counters, CountersAway
from engine.values.errors import GatewayError
from engine.values.units import format_nano

Rows = list[dict[str, Any]]

_SUMS_SECONDS, _REQUESTS_SECONDS = 5.0, 1.0
_WAIT = 5.0
"""Seconds that a request waits for another one of its caller."""


class CallerLedger:
    """Reads `sums` for callers. Sums are read again after five seconds, requests after one. All
    raise GatewayError: 503 while the ledger cannot be read, 429 for too many requests at a time."""

    def __init__(self, sums: UsageSums) -> None:
        self._sums = sums
        self._rows: TTLCache[tuple[Any, ...], Rows] = TTLCache(_CACHE_SIZE, _SUMS_SECONDS)
        self._requests: TTLCache[tuple[Any, ...], Rows] = TTLCache(_CACHE_SIZE, _REQUESTS_SECONDS)
        self._turns: LRUCache[str, BoundedSemaphore] = LRUCache(_CACHE_SIZE)

    def rows(self, caller: str, team: str, by: str, query: UsageQuery) -> Rows:
        """The rows of a query, by `by`: those of the caller, or of its team if it has a name. 400
        for tags with too many values."""
        token = "" if team else caller
        key = (by, token, team, float(query.first * _DAY), float((query.last + 1) * _DAY))

        def read() -> Rows:
            rows = self._sums.sums(*key)
            if rows is None:
                message = "The tags of these days have too many values: ask for fewer days."
                raise GatewayError(400, "too_many_values", message, param="by", retry=False)
            return rows

        return self._read(caller, self._rows, key, read)

    def requests(self, caller: str, after: str, limit: int) -> Rows:
        """The last requests of a caller, those after the one with that id. 400 if it has none of
        that id, be it somebody else's or nobody's."""
        key = (caller, after, limit)

        def query() -> Rows:
            rows = self._sums.requests(*key)
            if rows is None:
                message = "Invalid value for 'after': this token has no request of that id."
                raise GatewayError(400, "invalid_value", message, param="after")
            return rows

        rows = self._read(caller, self._requests, key, query)
        return [{**row, "time": time_text(row["time"])} for row in rows]

    def _read(
        self,
        caller: str,
        cache: TTLCache[tuple[Any, ...], Rows],
        key: tuple[Any, ...],
        query: Callable[[], Rows],
    ) -> Rows:
        """The rows of a key, from the cache or, when it is the caller's turn, from the ledger."""
        if (rows := cache.get(key)) is not None:
            return rows
        turn = self._turns.setdefault(caller, BoundedSemaphore(1))
        if not turn.acquire(timeout=_WAIT):
            message = "Other requests for the usage of this token are under way. Try again."
            raise GatewayError(429, "usage_busy", message)
        try:
            if (rows := cache.get(key)) is None:
                rows = cache[key] = [_with_cost(row) for row in query()]
        except DatabaseError as error:
            message = "The ledger cannot be read right now. Try again in a moment."
            raise GatewayError(503, "store_unavailable", message) from error
        finally:
            turn.release()
        return rows


def time_text(seconds: float) -> str:
    """A time (Unix seconds) in RFC 3339, UTC, to the microsecond."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _with_cost(row: dict[str, Any]) -> dict[str, Any]:
    """A row with its costs as decimal texts by currency."""
    return {**row, "cost": {currency: format_nano(n) for currency, n in row["cost"].items()}}


_DAY = 86_400
_STATES_SECONDS = 1.0
_CACHE_SIZE = 1_000


class CallerUsage:
    """The usage of callers: their `limits` in the `counters`, None without any, and their `sums`,
    None without records. `tags` are the names of the config's tags. `clock` gives Unix seconds.
    Limits are read again after one second: no limit bounds these requests."""

    def __init__(
        self,
        limits: OwnLimits,
        counters: Counters | None,
        sums: UsageSums | None,
        currency: str,
        tags: Sequence[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._limits = limits
        self._counters = counters
        self._ledger = None if sums is None else CallerLedger(sums)
        self._currency = currency
        self._tags = tags
        self._clock = clock
        self._cache: TTLCache[tuple[str, str], list[dict[str, Any]]] = TTLCache(
            _CACHE_SIZE, _STATES_SECONDS
        )

    def sums(self, caller: Caller, query: UsageQuery, /) -> dict[str, Any]:
        """The limits of a caller and the sums of a query. Raises GatewayError: 400 for the team of
        a caller without one and for a tag that the config does not have, 503 while the counters or
        the records cannot be asked."""
        if query.of_team and not caller.team:
            message = "This token belongs to no team: leave out 'of'."
            raise GatewayError(400, "team_missing", message, param="of", retry=False)
        name = query.by.removeprefix(TAG)
        if query.by.startswith(TAG) and name not in self._tags:
            names = ", ".join(self._tags) or "none here"
            message = f"Invalid value for 'by': there is no tag of that name (tags: {names})."
            raise GatewayError(400, "invalid_value", message, param="by", retry=False)
        key = caller.name, caller.team
        if (states := self._cache.get(key)) is None:
            states = self._cache[key] = self._states(caller)
        return {
            "object": "usage",
            "caller": caller.name,
            "team": caller.team or None,
            "currency": self._currency,
            "tags": [*self._tags],
            "limits": states,
            "usage": self._usage(caller, query),
        }

    def requests(self, caller: Caller, after: str, limit: int, /) -> dict[str, Any]:
        """The last requests of a caller, those after the one with that id, and whether there may be
        more. Raises GatewayError: 400 if the caller has none of that id, 503 while the records
        cannot be asked, or without any."""
        if self._ledger is None:
            message = "This gateway keeps no ledger of requests."
            raise GatewayError(503, "store_unavailable", message, retry=False)
        rows = self._ledger.requests(caller.name, after, limit)
        return {"object": "list", "data": rows, "has_more": len(rows) == limit}

    def _states(self, caller: Caller) -> list[dict[str, Any]]:
        """Each limit with what is used of it. To take nothing is to look."""
        limits, now = self._limits.of(caller), self._clock()
        if self._counters is None or not limits.limits:
            return []
        try:
            states = self._counters.take(limits.limits, (0,) * len(limits.limits))
        except CountersAway as error:
            message = "Limits cannot be read right now. Try again in a moment."
            raise GatewayError(503, "counters_unavailable", message) from error
        rows = []
        for at, (rule, sharer) in enumerate(zip(limits.rules, limits.sharers, strict=True)):
            used = rule.quota.amount - states.remaining[at]
            if used or "model" not in rule.by.kinds:
                reset = states.resets[at]
                rows.append(limit_fields(rule, sharer, used, reset, self._currency, now))
        return rows

    def _usage(self, caller: Caller, query: UsageQuery) -> dict[str, Any] | None:
        """The sums of a query, None without records."""
        if self._ledger is None:
            return None
        team = caller.team if query.of_team else ""
        usage: dict[str, Any] = {
            "of": {"team": team} if team else {"token": caller.name},
            "from": _day(query.first),
            "to": _day(query.last),
        }
        if query.by:
            return {
                **usage,
                "by": query.by,
                "rows": self._ledger.rows(caller.name, team, query.by, query),
            }
        for by in ("day", "model"):
            usage[f"{by}s"] = self._ledger.rows(caller.name, team, by, query)
        return usage


def _day(day: int) -> str:
    """The date of a day in UTC, which is given in days since 1970."""
    return time.strftime("%Y-%m-%d", time.gmtime(day * _DAY))
