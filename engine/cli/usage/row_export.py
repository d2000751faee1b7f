"""`modelway usage --rows`: every row of the ledger that is selected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.cli.usage.export_table import Column, Kind, Row
from engine.stores.database.database import Database
from engine.stores.database.rows import pages
from engine.stores.database.sums import UsageFilter
from engine.stores.ledger_entry import TYPES, Entry

_KINDS = {str: Kind.TEXT, int: Kind.COUNT, bool: Kind.FLAG, float: Kind.NUMBER}
_OF_NAMES = {"time": Kind.TIME, "cost": Kind.MONEY, "margin": Kind.MONEY}
_MARGIN = Entry._fields.index("margin")


def row_columns() -> list[Column]:
    """The columns of rows: those of the ledger, with the vendor's cost in place of the margin."""
    return [
        Column(
            "vendor_cost" if name == "margin" else name,
            _OF_NAMES.get(name) or _KINDS.get(kind, Kind.NUMBER),
        )
        for name, kind in TYPES.items()
    ]


def row_groups(database: Database, where: UsageFilter) -> Iterator[Sequence[Row]]:
    """The rows, some thousands at a time. Raises DatabaseError."""
    for entries in pages(database, where):
        yield [_row(entry) for entry in entries]


def _row(entry: Entry) -> Row:
    values = [*entry]
    values[_MARGIN] = entry.cost - entry.margin
    return values
