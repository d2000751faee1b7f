"""The ledger as callers read it: their sums and last requests, cached, and one query of each caller
at a time, because no limit bounds these requests."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from cachetools import LRUCache, TTLCache
from gevent.lock import BoundedSemaphore

from engine.exchange.stage_services import UsageSums
from engine.stores.database.failures import DatabaseError
from engine.stores.usage_query import UsageQuery
from engine.values.errors import GatewayError
from engine.values.units import format_nano

Rows = list[dict[str, Any]]

_DAY = 86_400
_SUMS_SECONDS, _REQUESTS_SECONDS = 5.0, 1.0
_CACHE_SIZE = 1_000
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
