"""The partitions of the ledger in PostgreSQL: one table for each calendar month in UTC.

`ledger_2027_01` has the rows of January 2027. Rows from before the ledger was partitioned are in
the first partition, `usage`. Any process makes a month when its first row is inserted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from sqlalchemy import Connection, text

_LOCK = 0x6D77_6D6F_6E
"""The advisory lock of a transaction that makes or drops partitions."""
_NAME = re.compile(r"ledger_(\d{4})_(\d\d)")
_MONTHS = text(
    "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'ledger'::regclass"
)


def create_months(connection: Connection, times: Iterable[float]) -> None:
    """Make the missing partitions of these times (Unix seconds). Others can insert and read
    meanwhile. Raises ValueError for a time after the year 9999.
    """
    months = {_month(time) for time in times}
    connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
    missing = months - set(_months(connection))
    for year, month in sorted(missing):
        start, end = _start(year, month), _start(year, month + 1)
        table = f"ledger_{year:04}_{month:02}"
        if _is_in_usage(connection, start):
            continue
        connection.execute(text(f"CREATE TABLE {table} (LIKE ledger INCLUDING ALL)"))
        connection.execute(
            text(
                f"ALTER TABLE ledger ATTACH PARTITION {table} FOR VALUES FROM ({start}) TO ({end})"
            )
        )


def drop_months(connection: Connection, before: float) -> int:
    """Drop the partitions whose months end before a time. Returns their number."""
    connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
    old = [month for month in _months(connection) if _start(month[0], month[1] + 1) <= before]
    for year, month in old:
        connection.execute(text(f"DROP TABLE ledger_{year:04}_{month:02}"))
    return len(old)


def _months(connection: Connection) -> list[tuple[int, int]]:
    names = connection.execute(_MONTHS).scalars()
    matches = (_NAME.fullmatch(name.rpartition(".")[2]) for name in names)
    return [(int(match[1]), int(match[2])) for match in matches if match is not None]


def _is_in_usage(connection: Connection, start: int) -> bool:
    """Whether the first partition contains this month."""
    partition = text(
        "SELECT substring(pg_get_expr(relpartbound, oid) FROM 'TO \\(''?([0-9.e+]+)')::float8 "
        "FROM pg_class WHERE oid = 'usage'::regclass"
    )
    end = connection.execute(partition).scalar()
    return end is not None and start < end


def _month(time: float) -> tuple[int, int]:
    try:
        moment = datetime.fromtimestamp(time, UTC)
    except OverflowError as error:
        raise ValueError(f"{time} is not a time") from error
    return moment.year, moment.month


def _start(year: int, month: int) -> int:
    """Unix seconds of the start of a month; month 13 is January of the next year."""
    if month > 12:
        year, month = year + 1, month - 12
    if year > 9999:
        return _END
    return int(datetime(year, month, 1, tzinfo=UTC).timestamp())


_END = 253_402_300_800
"""Unix seconds of the end of the year 9999."""
