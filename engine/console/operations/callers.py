"""The limits that are used most, and the tokens and teams there are: names, and no secrets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any

from engine.callers.limits.held_limits import HeldLimit, OwnLimits, held_limits, states
from engine.callers.limits.limit_warnings import limit_fields
from engine.exchange.stage_services import Services
from engine.plan.plan import Plan
from engine.stores.database.failures import DatabaseError
from engine.values.caller import Caller
from engine.values.counters import CountersAway

MAX_TOKENS = 500
"""The tokens of the config, and of the database, whose limits are looked at: those that expire
first."""
_MAX_LIMITS = 30
"""The limits that are listed."""
_MAX_LISTED = 100
"""The tokens that are listed, and the teams."""
_NEVER = float("inf")

Json = dict[str, Any]


class CallerReport:
    """Makes the part of the report about callers. What cannot be read is said in its place:
    `limits` or `recorded` is null, with the reason."""

    def __init__(self, plan: Plan, services: Services) -> None:
        config = plan.config
        self._config = config
        self._services = services
        self._rules = [*dict.fromkeys(r for route in plan.routes for r in route.guards.rules)]
        self._names = {
            "model": [*config.models],
            "upstream": [*config.upstreams],
            "route": [route.operation.id for route in plan.routes],
        }
        self._own = OwnLimits(self._rules, self._names["model"])

    def __call__(self) -> Json:
        """`limits`, `tokens`, `teams`, and `problems` of what cannot be read."""
        problems: list[str] = []
        config_tokens = sorted(self._config.tokens.values(), key=_expiry)[:MAX_TOKENS]
        recorded = self._recorded(problems)
        callers = [*config_tokens, *(self._config.teams.member(caller) for caller in recorded)]
        return {
            "limits": self._limits(callers, problems),
            "tokens": _tokens(config_tokens, recorded),
            "teams": self._teams(callers),
            "problems": problems,
        }

    def _recorded(self, problems: list[str]) -> Sequence[Caller]:
        """The callers of the tokens in the database."""
        listed = self._services.recorded_tokens
        try:
            return listed.first_to_expire(MAX_TOKENS) if listed is not None else ()
        except DatabaseError as error:
            problems.append(f"The tokens of the database cannot be read: {error}")
            return ()

    def _limits(self, callers: Sequence[Caller], problems: list[str]) -> list[Json]:
        """The limits of which the largest share is used."""
        counters, now = self._services.counters, self._services.clock()
        if counters is None:
            return []
        teams = self._config.teams.by_name.values()
        listed = held_limits(self._own, callers, teams, self._rules, self._names)
        try:
            used = [limit for limit in states(counters, listed) if limit.used > 0]
        except CountersAway as error:
            problems.append(f"Limits cannot be read: {error}")
            return []
        used.sort(key=_share, reverse=True)
        currency = self._services.currency
        return [{**limit_fields(*each, currency, now)} for each in used[:_MAX_LIMITS]]

    def _teams(self, callers: Sequence[Caller]) -> list[Json]:
        """The teams of the config and those that are only names, with the number of tokens."""
        counts = Counter(caller.team for caller in callers if caller.team)
        declared = self._config.teams.by_name
        names = sorted({*declared, *counts})
        return [
            {
                "name": name,
                "in": (declared[name].parent or None) if name in declared else None,
                "tokens": counts[name],
            }
            for name in islice(names, _MAX_LISTED)
        ]


def _tokens(own: Sequence[Caller], recorded: Sequence[Caller]) -> Json:
    """How many tokens there are, and those that expire, the first one first."""
    sources = (
        (each, source)
        for source, part in (("config", own), ("database", recorded))
        for each in part
    )
    rows = [
        {"name": each.name, "team": each.team or None, "expires": each.expires, "in": source}
        for each, source in sources
        if each.expires is not None
    ]
    rows.sort(key=lambda row: (row["expires"], row["name"]))
    return {"config": len(own), "database": len(recorded), "expiring": rows[:_MAX_LISTED]}


def _expiry(caller: Caller) -> float:
    return _NEVER if caller.expires is None else caller.expires


def _share(limit: HeldLimit) -> float:
    return limit.used / limit.rule.quota.amount if limit.rule.quota.amount else _NEVER
