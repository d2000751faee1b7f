"""The sums of one token, or of one team, by the values of a tag, in whole days of UTC."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import add
from typing import Any

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Connection,
    Select,
    and_,
    false,
    func,
    literal_column,
    or_,
    select,
    union_all,
)

from engine.stores.database.database import Database
from engine.stores.database.periods import TAG_PERIODS, round_up
from engine.stores.database.schema import COST_BITS, TAG_SUMS, ledger, ledger_tags
from engine.stores.database.sums import (
    SUMS,
    UsageFilter,
    conditions,
    row_sums,
    rows_from,
    state,
)
from engine.stores.database.totals import OTHERS, Total
from engine.values.tags import tag_in
from engine.values.usage import Usage

MAX_COMBINATIONS = 10_000
"""The combinations of tags that are read, those with the most requests; the others are summed."""
MAX_SUMS = 50_000
"""The sums of a period and a combination of tags that are added for an answer. Where each request
has other tags, there are as many as requests."""

_Sums = dict[str, dict[str, list[Any]]]
"""`TAG_SUMS` by the value of a tag and the currency."""


def totals_by_tag(
    database: Database, name: str, where: UsageFilter, timeout: int, most: int
) -> list[Total] | None:
    """One total for each value of a tag, those with the most requests first, at most `most`: the
    last of more is that of all others. None if there are more than MAX_SUMS sums. Requests without
    the tag are left out. `where` has whole days, and the token or the team; PostgreSQL cancels a
    statement after `timeout` seconds. Raises DatabaseError."""
    read = partial(_combinations, where=where)
    combinations = database.read_consistently(read, timeout=timeout)
    if combinations is None:
        return None
    sums: _Sums = {}
    for tags, currency, *values in combinations:
        if key := OTHERS if tags is None else tag_in(tags, name):
            _add(sums, key, currency, values)
    listed = sorted(sums, key=lambda key: (key == OTHERS, -_requests(sums[key]), key))
    if len(listed) > most:
        for key in listed[most - 1 :]:
            others = sums.pop(key)
            for currency, values in others.items():
                _add(sums, OTHERS, currency, values)
        listed[most - 1 :] = [OTHERS]
    return [_total(key, sums[key]) for key in listed]


def _add(sums: _Sums, key: str, currency: str, values: list[Any]) -> None:
    """Add `TAG_SUMS` to those of a key. A Total of each combination takes ten times as long."""
    amounts = sums.setdefault(key, {})
    present = amounts.get(currency)
    amounts[currency] = values if present is None else [*map(add, present, values)]


def _requests(by_currency: Mapping[str, Sequence[Any]]) -> int:
    return sum(int(values[0]) for values in by_currency.values())


def _combinations(connection: Connection, where: UsageFilter) -> list[Sequence[Any]] | None:
    """The tags, None for all others, the currency and `TAG_SUMS`; None for too many."""
    query = _sums(connection, where)
    # To group too many takes five times as long as to read them.
    if connection.execute(query.offset(MAX_SUMS).limit(1)).first() is not None:
        return None
    row = query.subquery().c
    sums = [func.sum(row[name]).label(name) for name in TAG_SUMS]
    groups = (
        select(row.tags, row.currency, *sums)
        .group_by(row.tags, row.currency)
        .order_by(literal_column("requests").desc(), row.tags, row.currency)
    )
    rows: list[Sequence[Any]] = [*connection.execute(groups.limit(MAX_COMBINATIONS))]
    if len(rows) == MAX_COMBINATIONS:
        by_currency = select(row.currency, *sums).group_by(row.currency)
        rows += _others(rows, [*connection.execute(by_currency)])
    return rows


def _others(
    rows: Sequence[Sequence[Any]], totals: Sequence[Sequence[Any]]
) -> Iterator[Sequence[Any]]:
    """The sums of each currency that `rows` leave of its `totals`: to add them takes less than to
    group what they are of."""
    for currency, *total in totals:
        parts = [values for _, code, *values in rows if code == currency]
        rest = [number - sum(column) for number, *column in zip(total, *parts, strict=True)]
        if any(rest):
            yield (None, currency, *rest)


def _sums(connection: Connection, where: UsageFilter) -> Select[Any] | CompoundSelect[Any]:
    """The tags, the currency and `TAG_SUMS` of some days: the sums, and single rows from before
    `tags_from`, which are not in the sums yet."""
    row = ledger_tags.c
    since = max(where.since, rows_from(connection))
    sums = select(row.tags, row.currency, *(row[name] for name in TAG_SUMS)).where(
        *conditions(ledger_tags, where), or_(false(), *_periods(since, where.until))
    )
    until = min(state(connection, "tags_from"), where.until)
    if until <= since:
        return sums
    single, values = ledger.c, dict(zip(SUMS, row_sums(), strict=True))
    labels = (values[name].label(name) for name in TAG_SUMS)
    rows = select(single.tags, single.currency, *labels).where(
        *conditions(ledger, where), single.time >= since, single.time < until, single.tags != ""
    )
    return union_all(sums, rows)


def _periods(since: float, until: float) -> Iterator[ColumnElement[bool]]:
    """The sums of a range: of the longer periods in it, and of the days at both ends. Of a day that
    the retention has begun to delete, the sum has all rows."""
    days, longer = TAG_PERIODS
    first, last = int(since) // days * days, int(until)
    start, end = round_up(first, longer), last // longer * longer
    if start >= end:
        start = end = first
    for period, begin, stop in ((days, first, start), (longer, start, end), (days, end, last)):
        if begin < stop:
            row = ledger_tags.c
            yield and_(row.period == period, row.start >= begin, row.start < stop)


def _total(key: str, by_currency: Mapping[str, Sequence[Any]]) -> Total:
    requests = failed = input_ = output = cached = 0
    cost: dict[str, int] = {}
    for currency in sorted(by_currency):
        counts = [*map(int, by_currency[currency])]
        requests, failed = requests + counts[0], failed + counts[1]
        input_, output, cached = input_ + counts[2], output + counts[3], cached + counts[4]
        if amount := (counts[5] << COST_BITS) + counts[6]:
            cost[currency] = amount
    usage = Usage(input=input_, output=output, cached=cached)
    return Total(key, requests, failed, usage, cost)
