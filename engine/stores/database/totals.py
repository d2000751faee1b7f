"""Totals of the ledger: requests, usage and cost, grouped by one of `KINDS`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import partial
from operator import add
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from msgspec import Struct, field
from msgspec.structs import replace
from sqlalchemy import Connection, select

from engine.stores.database.database import Database
from engine.stores.database.periods import DAY, HOUR
from engine.stores.database.schema import COST_BITS, SUMMED_COUNTS, ledger
from engine.stores.database.sums import (
    SUMS,
    UsageFilter,
    hours_of,
    rows_by,
    rows_from,
    sums_by,
    sums_by_hour,
    sums_by_quarter,
    values_of,
)
from engine.stores.usage_query import TAG
from engine.values.tags import tag_in
from engine.values.usage import NO_USAGE, Usage

_TIMEOUT = 120
"""Timeout of a query in PostgreSQL, in seconds."""

_RANGES = 50
"""The largest number of time ranges in one query of rows."""

KINDS = (
    *("token", "team", "model", "served", "upstream", "day"),
    *("operation", "status", "outcome", "price", "client", "client_version", "session", "via"),
)
"""The groupings of totals; `model` is the requested one, `price` the source of the price."""

ROW_KINDS = {
    "client": ("client",),
    "client_version": ("client", "client_version"),
    "session": ("session", "token", "client"),
    "via": ("via",),
}
"""The groupings that the sums do not have, most because callers choose the names, and the columns
of the rows by which they group. Two tokens that name the same session have two sessions."""

_MAX_COMBINATIONS = 100_000
"""The combinations of tags that are read; the others are summed."""

_CHARGED = ("token", "team", "model_served", "upstream", "tags")

MAX_GROUPS = 1000
"""Totals by one of `ROW_KINDS` that are listed; the others are summed."""

OTHERS = "(others)"
"""The key of the total of all that are not listed."""


class Total(Struct, frozen=True):
    """Sums for one `key`. `requests` leaves out attempts that were cancelled because another one of
    their request won; `failed` counts requests with an error or an incomplete response, unless the
    caller had left. `usage` has SUMMED_COUNTS, `cost` is in nano-units by currency;
    `vendor_cost` is what vendors charge for it, without the prices of teams.
    `first_byte_sum` is the sum of the seconds to the first byte, of the `first_byte_count` requests
    that had one.

    A total by one of `ROW_KINDS` has the start of its `first` request and the end of its `last`
    (Unix seconds); that of a session has its `token` and `client`."""

    key: str = ""
    requests: int = 0
    failed: int = 0
    usage: Usage = NO_USAGE
    cost: dict[str, int] = field(default_factory=dict)
    vendor_cost: dict[str, int] = field(default_factory=dict)
    first_byte_sum: float = 0.0
    first_byte_count: int = 0
    token: str = ""
    client: str = ""
    first: float | None = None
    last: float | None = None

    @property
    def first_byte(self) -> float | None:
        """The average seconds to the first byte."""
        return self.first_byte_sum / self.first_byte_count if self.first_byte_count else None

    def __add__(self, other: Total) -> Total:
        """The sum, with the names of `self`."""
        return Total(
            key=self.key,
            requests=self.requests + other.requests,
            failed=self.failed + other.failed,
            usage=self.usage + other.usage,
            cost=_sum_of(self.cost, other.cost),
            vendor_cost=_sum_of(self.vendor_cost, other.vendor_cost),
            first_byte_sum=self.first_byte_sum + other.first_byte_sum,
            first_byte_count=self.first_byte_count + other.first_byte_count,
            token=self.token,
            client=self.client,
            first=min((t.first for t in (self, other) if t.first is not None), default=None),
            last=max((t.last for t in (self, other) if t.last is not None), default=None),
        )


def _sum_of(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """The sums of amounts by currency."""
    return {c: one.get(c, 0) + other.get(c, 0) for c in sorted({*one, *other})}


class Charge(NamedTuple):
    """The `total` of a day, which begins at `day` (Unix seconds), of one token of a team, for one
    model as its upstream names it, with the same `tags`, in one `currency`."""

    day: int
    token: str
    team: str
    model: str
    upstream: str
    tags: str
    currency: str
    total: Total


def totals(
    database: Database,
    by: str,
    where: UsageFilter,
    time_zone: tzinfo = UTC,
    most: int = MAX_GROUPS,
    *,
    timeout: int = _TIMEOUT,
) -> list[Total]:
    """One total for each value of `by` (one of KINDS, or TAG and a name): days in order, others by
    the number of requests. Days are those of `time_zone`. Of `ROW_KINDS`, the `most` with the most
    requests and the total of all `OTHERS`, which is the last. PostgreSQL cancels a statement after
    `timeout` seconds. Raises DatabaseError.
    """
    if by == "day":
        read = partial(_by_day, where=where, time_zone=time_zone)
    elif by.startswith(TAG):
        read = partial(_by_tag, name=by.removeprefix(TAG), where=where)
    elif by in ROW_KINDS:
        read = partial(_by_rows, by=by, where=where, most=most)
    else:
        read = partial(_by_value, by=by, where=where)
    sums: dict[tuple[str, ...], Total] = {}
    for total in database.read_consistently(read, timeout=timeout):
        key = total.key, total.token, total.client
        sums[key] = sums[key] + total if key in sums else total
    used = [total for total in sums.values() if total.requests or total.cost]
    if by == "day":
        return sorted(used, key=lambda total: total.key)
    return sorted(used, key=lambda t: (t.key == OTHERS, -t.requests, t.key, t.token, t.client))


def charges(database: Database, where: UsageFilter) -> Iterator[Charge]:
    """What each token used of each model at each upstream, by days of UTC. Every row of the range
    is read, a day at a time. Raises DatabaseError."""
    day = int(where.since) // DAY * DAY
    while day < where.until:
        part = replace(where, since=max(where.since, day), until=min(where.until, day + DAY))
        read = partial(rows_by, columns=_CHARGED, where=part, most=_MAX_COMBINATIONS)
        rows, remainder = database.read_consistently(read, timeout=_TIMEOUT)
        for row in rows:
            names, currency, sums = row[: len(_CHARGED)], row[len(_CHARGED)], row[8:]
            yield Charge._make((day, *names, currency, _total("", currency, sums)))
        for row in remainder:
            names = (OTHERS, OTHERS, OTHERS, OTHERS, "")
            yield Charge._make((day, *names, row[0], _total(OTHERS, row[0], row[1:])))
        day += DAY


def distinct_values(database: Database, by: str, where: UsageFilter) -> list[str]:
    """All values of `by`, sorted. Raises DatabaseError."""
    read = partial(values_of, column=_column(by), where=where)
    return sorted(database.read_consistently(read, timeout=_TIMEOUT))


def deleted_before(database: Database) -> float:
    """The time (Unix seconds) before which the retention has deleted rows, 0.0 for none. Raises
    DatabaseError."""
    return database.read(rows_from)


def existing_ids(database: Database, ids: Sequence[str]) -> set[str]:
    """The ids that are in the table. Raises DatabaseError."""
    query = select(ledger.c.id).where(ledger.c.id.in_(ids))
    return database.read(lambda connection: set(connection.execute(query).scalars()))


def _column(by: str) -> str:
    return {"model": "model_asked", "served": "model_served"}.get(by, by)


def _by_value(connection: Connection, by: str, where: UsageFilter) -> list[Total]:
    return [_total(str(row[0]), row[1], row[2:]) for row in sums_by(connection, _column(by), where)]


def _by_rows(connection: Connection, by: str, where: UsageFilter, most: int) -> list[Total]:
    columns = ROW_KINDS[by]
    rows, remainder = rows_by(connection, columns, where, most)
    return [
        *(_of_group(by, row[: len(columns)], row[len(columns) :]) for row in rows),
        *(_total(OTHERS, row[0], row[1:]) for row in remainder),
    ]


def _by_tag(connection: Connection, name: str, where: UsageFilter) -> list[Total]:
    """A total for each combination of tags, with the value of one of them as its key: those with
    the same are added. Every row of the range is read."""
    rows, remainder = rows_by(connection, ("tags",), where, _MAX_COMBINATIONS)
    return [
        *(_total(tag_in(row[0], name), row[1], row[4:]) for row in rows),
        *(_total(OTHERS, row[0], row[1:]) for row in remainder),
    ]


def _of_group(by: str, names: Sequence[str], values: Sequence[Any]) -> Total:
    """The total of a group: `values` are its currency, its first and last times, and its sums."""
    currency, first, last, *sums = values
    key = "/".join(filter(None, names)) if by == "client_version" else names[0]
    total = replace(_total(key, currency, sums), first=float(first), last=float(last))
    if by != "session":
        return total
    return replace(total, token=names[1], client=names[2])


def _by_day(connection: Connection, where: UsageFilter, time_zone: tzinfo) -> list[Total]:
    """Totals by day and currency. An hour that contains a midnight is read from its rows."""

    def day(time: int) -> str:
        return datetime.fromtimestamp(time, time_zone).date().isoformat()

    sums: dict[tuple[str, str], Sequence[Any]] = {}

    def add_row(row: Sequence[Any]) -> None:
        key = (day(row[0]), row[1])
        before = sums.get(key)
        sums[key] = row[2:] if before is None else tuple(map(add, before, row[2:]))

    is_utc = time_zone in (UTC, ZoneInfo("UTC"))
    hours = hours_of(connection, where, DAY if is_utc else HOUR)
    ranges: set[tuple[float, float]] = {*hours.rows}
    for row in sums_by_hour(connection, where, hours.sums) if hours.sums else ():
        if day(row[0]) == day(row[0] + HOUR - 1):
            add_row(row)
        else:
            ranges.add((row[0], row[0] + HOUR))
    parts = sorted(ranges)
    for start in range(0, len(parts), _RANGES):
        for row in sums_by_quarter(connection, where, parts[start : start + _RANGES]):
            add_row(row)
    return [_total(key, currency, values) for (key, currency), values in sums.items()]


def _total(key: str, currency: str, values: Sequence[Any]) -> Total:
    sums = dict(zip(SUMS, values, strict=True))
    cost, margin = (
        (int(sums[f"{name}_high"]) << COST_BITS) + int(sums[f"{name}_low"])
        for name in ("cost", "margin")
    )
    vendor_cost = cost - margin
    counts: dict[str, Any] = {name: int(sums[name]) for name in SUMMED_COUNTS}
    return Total(
        key,
        requests=int(sums["requests"]),
        failed=int(sums["failed"]),
        usage=Usage(**counts),
        cost={currency: cost} if cost or vendor_cost else {},
        vendor_cost={currency: vendor_cost} if cost or vendor_cost else {},
        first_byte_sum=float(sums["first_byte_sum"]),
        first_byte_count=int(sums["first_byte_count"]),
    )
