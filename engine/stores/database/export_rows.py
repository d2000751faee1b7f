"""The rows of the ledger one after the other, for exports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import and_, or_, select

from engine.stores.database.database import Database
from engine.stores.database.schema import ledger
from engine.stores.database.sums import UsageFilter, conditions
from engine.stores.ledger_entry import Entry

PAGE = 10_000
"""Rows that are in memory at one time."""


def pages(database: Database, where: UsageFilter, size: int = PAGE) -> Iterator[Sequence[Entry]]:
    """The rows that a filter selects, by time and id, `size` at a time. Rows that come meanwhile
    are there if they are behind those that were read. Raises DatabaseError."""
    columns = ledger.c
    query = select(*(columns[name] for name in Entry._fields)).order_by(columns.time, columns.id)
    query = query.where(columns.time < where.until, *conditions(ledger, where)).limit(size)
    since, last_id = where.since, ""
    while True:
        behind = or_(columns.time > since, and_(columns.time == since, columns.id > last_id))
        page = query.where(columns.time >= since, behind)
        entries = database.read(
            lambda connection, page=page: [*map(Entry._make, connection.execute(page))]  # type: ignore[misc]
        )
        if entries:
            yield entries
        if len(entries) < size:
            return
        since, last_id = entries[-1].time, entries[-1].id
