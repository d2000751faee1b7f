"""The sums of one caller, or of one team, for the caller itself: by day and by model."""

from __future__ import annotations

from typing import Any

from engine.stores.database.database import Database
from engine.stores.database.sums import UsageFilter
from engine.stores.database.totals import Total, totals

MAX_MODELS = 100
"""The models that are listed, those with the most requests."""


class CallerSums:
    """Reads the sums of the ledger in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def sums(self, token: str, team: str, since: float, until: float) -> dict[str, Any]:
        """`days` and `models` from `since` to `until` (Unix seconds), of a token or, if that is "",
        of a team. Costs are nano-units by currency. Raises DatabaseError; ValueError without a
        name, which would be everybody's."""
        if bool(token) == bool(team):
            raise ValueError("the sums are of one token or of one team")
        where = UsageFilter(since, until, token=token, team=team)
        return {
            "days": [_row("day", total) for total in totals(self._database, "day", where)],
            "models": [
                _row("model", total)
                for total in totals(self._database, "model", where)[:MAX_MODELS]
                if total.key
            ],
        }


def _row(key: str, total: Total) -> dict[str, Any]:
    usage = total.usage
    return {
        key: total.key,
        "requests": total.requests,
        "failed": total.failed,
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cached_tokens": usage.cached,
        "cost": total.cost,
    }
