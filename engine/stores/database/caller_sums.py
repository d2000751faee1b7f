"""The sums of one caller, or of one team, for the caller itself, and its last requests."""

from __future__ import annotations

from functools import partial
from typing import Any

from sqlalchemy import Connection, or_, select

from engine.exchange.request_record import CANCELLED
from engine.stores.database.database import Database
from engine.stores.database.schema import ledger
from engine.stores.database.sums import UsageFilter, rows_from
from engine.stores.database.tag_sums import totals_by_tag
from engine.stores.database.totals import OTHERS, Total, totals
from engine.stores.usage_query import MAX_REQUESTS, TAG
from engine.values.event_json import json_object

MAX_ROWS = 100
"""The models, or values of a tag, that are listed: those with the most requests. The others are
summed."""
_TIMEOUT = 4
"""Timeout of a query in PostgreSQL, in seconds: a caller waits for it."""
_COLUMNS = (
    *("id", "time", "operation", "model_asked", "status", "outcome", "stream", "duration"),
    *("first_byte", "input", "output", "cached", "cost", "currency", "tags"),
)


class CallerSums:
    """Reads the sums and the last requests of callers in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def sums(
        self, by: str, token: str, team: str, since: float, until: float
    ) -> list[dict[str, Any]] | None:
        """One row for each day, model or value of a tag (`by`: day, model or TAG and its name), in
        whole days of UTC from `since` to `until` (Unix seconds), of a token or, if that is "", of a
        team; None if too many tags would be added. Costs are nano-units by currency. Raises
        DatabaseError; ValueError without a name, which would be everybody's."""
        if bool(token) == bool(team):
            raise ValueError("the sums are of one token or of one team")
        where = UsageFilter(since, until, token=token, team=team)
        if by.startswith(TAG):
            name = by.removeprefix(TAG)
            tagged = totals_by_tag(self._database, name, where, _TIMEOUT, MAX_ROWS)
            if tagged is None:
                return None
            rows = tagged
        else:
            rows = totals(self._database, by, where, timeout=_TIMEOUT)
        if by != "day":
            rows = _longest([row for row in rows if row.key])
        return [_row("value" if by.startswith(TAG) else by, total) for total in rows]

    def requests(self, token: str, after: str, limit: int) -> list[dict[str, Any]] | None:
        """The last requests of a token, at most MAX_REQUESTS, the last one first; those that follow
        the one with the id `after` in this order, None if the token has none of that id. Costs are
        nano-units by currency. Raises DatabaseError; ValueError without a name."""
        if not token:
            raise ValueError("requests are those of one token")
        read = partial(_requests, token=token, after=after, limit=min(limit, MAX_REQUESTS))
        return self._database.read_consistently(read, timeout=_TIMEOUT)


def _requests(
    connection: Connection, token: str, after: str, limit: int
) -> list[dict[str, Any]] | None:
    row = ledger.c
    query = (
        select(*(row[name] for name in _COLUMNS))
        .where(row.token == token, row.outcome != CANCELLED, row.time >= rows_from(connection))
        .order_by(row.time.desc(), row.id.desc())
        .limit(limit)
    )
    if after:
        own = select(row.time).where(row.id == after, row.token == token)
        time = connection.execute(own).scalar()
        if time is None:
            return None
        query = query.where(row.time <= time, or_(row.time < time, row.id < after))
    rows = connection.execute(query)
    return [_request(dict(zip(_COLUMNS, values, strict=True))) for values in rows]


def _longest(rows: list[Total]) -> list[Total]:
    """The first MAX_ROWS totals, the last of them that of all others."""
    if len(rows) <= MAX_ROWS:
        return rows
    others = sum(rows[MAX_ROWS - 1 :], Total(OTHERS))
    return [*rows[: MAX_ROWS - 1], others]


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


def _request(row: dict[str, Any]) -> dict[str, Any]:
    """What a caller sees of a request of its own: nothing of upstreams, no address, no text."""
    return {
        "id": row["id"],
        "time": row["time"],
        "operation": row["operation"],
        "model": row["model_asked"],
        "status": row["status"],
        "outcome": row["outcome"],
        "stream": bool(row["stream"]),
        "seconds": round(row["duration"], 3),
        "first_byte_seconds": None if row["first_byte"] is None else round(row["first_byte"], 3),
        "input_tokens": row["input"],
        "output_tokens": row["output"],
        "cached_tokens": row["cached"],
        "cost": {row["currency"]: row["cost"]} if row["cost"] else {},
        "tags": json_object(row["tags"].encode()),
    }
