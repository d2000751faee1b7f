"""The sums of one token, or of one team, by the values of a tag, in whole days of UTC."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, func, literal_column, select

from engine.stores.database.database import Database
from engine.stores.database.schema import COST_BITS, TAG_SUMS, ledger_tags
from engine.stores.database.sums import UsageFilter
from engine.stores.database.totals import OTHERS, Total
from engine.values.tags import tag_in
from engine.values.usage import Usage

MAX_COMBINATIONS = 10_000
"""The combinations of tags that are read, those with the most requests; the others are summed."""


def totals_by_tag(database: Database, name: str, where: UsageFilter, timeout: int) -> list[Total]:
    """One total for each value of a tag, those with the most requests first. Requests without the
    tag are left out. `where` has whole days, and the token or the team; PostgreSQL cancels a
    statement after `timeout` seconds. Raises DatabaseError."""
    read = partial(_combinations, where=where)
    sums: dict[str, Total] = {}
    for tags, currency, *values in database.read_consistently(read, timeout=timeout):
        if key := OTHERS if tags is None else tag_in(tags, name):
            total = _total(key, currency, values)
            sums[key] = sums[key] + total if key in sums else total
    return sorted(
        sums.values(), key=lambda total: (total.key == OTHERS, -total.requests, total.key)
    )


def _combinations(connection: Connection, where: UsageFilter) -> list[Sequence[Any]]:
    """The tags, None for all others, the currency and `TAG_SUMS`."""
    row = ledger_tags.c
    holder = row.token == where.token if where.token else row.team == where.team
    groups = (
        select(row.tags, row.currency, *(func.sum(row[name]).label(name) for name in TAG_SUMS))
        .where(holder, row.start >= int(where.since), row.start < int(where.until))
        .group_by(row.tags, row.currency)
        .order_by(literal_column("requests").desc(), row.tags, row.currency)
    )
    rows: list[Sequence[Any]] = [*connection.execute(groups.limit(MAX_COMBINATIONS))]
    if len(rows) == MAX_COMBINATIONS:
        rest = groups.offset(MAX_COMBINATIONS).subquery().c
        sums = (func.sum(rest[name]) for name in TAG_SUMS)
        others = select(literal_column("NULL"), rest.currency, *sums).group_by(rest.currency)
        rows += connection.execute(others)
    return rows


def _total(key: str, currency: str, values: Sequence[Any]) -> Total:
    requests, failed, input_, output, cached, high, low = map(int, values)
    cost = (high << COST_BITS) + low
    usage = Usage(input=input_, output=output, cached=cached)
    return Total(key, requests, failed, usage, {currency: cost} if cost else {})
