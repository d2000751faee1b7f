"""What a caller has used, and what is left of its limits: for the caller itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from cachetools import TTLCache

from engine.callers.limit_event import limit_fields
from engine.callers.own_limits import OwnLimits
from engine.exchange.services import UsageSums
from engine.stores.database.failures import DatabaseError
from engine.values.caller import Caller
from engine.values.counters import Counters, CountersAway
from engine.values.errors import GatewayError
from engine.values.units import format_nano

DAY = 86_400
_SUMS_SECONDS, _ANSWER_SECONDS = 5.0, 1.0
_CACHE_SIZE = 1_000


class CallerUsage:
    """The usage of callers: their `limits` in the `counters`, None without any, and their `sums`,
    None without records. `clock` gives Unix seconds. Sums are read again after five seconds, limits
    after one: no limit bounds these requests."""

    def __init__(
        self,
        limits: OwnLimits,
        counters: Counters | None,
        sums: UsageSums | None,
        currency: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._limits = limits
        self._counters = counters
        self._sums = sums
        self._currency = currency
        self._clock = clock
        self._sums_cache: TTLCache[tuple[str, str, int], dict[str, Any]] = TTLCache(
            _CACHE_SIZE, _SUMS_SECONDS
        )
        self._answers: TTLCache[tuple[str, str, int, bool], dict[str, Any]] = TTLCache(
            _CACHE_SIZE, _ANSWER_SECONDS
        )

    def __call__(self, caller: Caller, days: int, of_team: bool, /) -> dict[str, Any]:
        """The limits of a caller and the sums of so many days, today included, its own or those of
        its team. Raises GatewayError: 400 for the team of a caller without one, 503 while the
        counters or the records cannot be asked."""
        if of_team and not caller.team:
            message = "This token belongs to no team: leave out 'of'."
            raise GatewayError(400, "team_missing", message, param="of", retry=False)
        key = caller.name, caller.team, days, of_team
        if (answer := self._answers.get(key)) is None:
            answer = self._answers[key] = self._answer(caller, days, of_team=of_team)
        return answer

    def _answer(self, caller: Caller, days: int, *, of_team: bool) -> dict[str, Any]:
        return {
            "object": "usage",
            "caller": caller.name,
            "team": caller.team or None,
            "currency": self._currency,
            "limits": self._states(caller),
            "usage": self._usage(caller, days, of_team=of_team),
        }

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

    def _usage(self, caller: Caller, days: int, *, of_team: bool) -> dict[str, Any] | None:
        """The sums of the last days, None without records."""
        if self._sums is None:
            return None
        now = self._clock()
        since = (int(now) // DAY - days + 1) * DAY
        token, team = ("", caller.team) if of_team else (caller.name, "")
        sums = self._sums_cache.get((token, team, since))
        if sums is None:
            try:
                sums = self._sums.sums(token, team, float(since), now)
            except DatabaseError as error:
                message = "The ledger cannot be read right now. Try again in a moment."
                raise GatewayError(503, "store_unavailable", message) from error
            self._sums_cache[token, team, since] = sums
        return {
            "of": {"team": team} if of_team else {"token": token},
            "since": time.strftime("%Y-%m-%d", time.gmtime(since)),
            **{name: [_priced(row) for row in rows] for name, rows in sums.items()},
        }


def _priced(row: dict[str, Any]) -> dict[str, Any]:
    """A row with its costs as decimal texts by currency."""
    return {**row, "cost": {currency: format_nano(n) for currency, n in row["cost"].items()}}
