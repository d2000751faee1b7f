"""What a caller has used, and what is left of its limits: for the caller itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from cachetools import TTLCache

from engine.callers.caller_ledger import CallerLedger
from engine.callers.limits.limit_event import limit_fields
from engine.callers.limits.own_limits import OwnLimits
from engine.exchange.stage_services import UsageSums
from engine.stores.usage_query import TAG, UsageQuery
from engine.values.caller import Caller
from engine.values.counters import Counters, CountersAway
from engine.values.errors import GatewayError

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
