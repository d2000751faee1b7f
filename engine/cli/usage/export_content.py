"""What an export of `modelway usage` has: totals, or with `--rows` every row that is selected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.cli.usage.export_table import Column, Kind, Row
from engine.cli.usage.report import UsageReport
from engine.stores.database.database import Database
from engine.stores.database.export_rows import pages
from engine.stores.database.schema import SUMMED_COUNTS
from engine.stores.database.sums import UsageFilter
from engine.stores.database.totals import ROW_KINDS, Total
from engine.stores.ledger_entry import TYPES, Entry

_COUNTS = ("requests", "failed", *SUMMED_COUNTS)
_KINDS = {str: Kind.TEXT, int: Kind.COUNT, bool: Kind.FLAG, float: Kind.NUMBER}
_OF_NAMES = {"time": Kind.TIME, "cost": Kind.MONEY, "margin": Kind.MONEY}
_MARGIN = Entry._fields.index("margin")


def totals_table(report: UsageReport) -> tuple[list[Column], list[Row]]:
    """The columns, and a row for each total and currency. Only the first row of a total has its
    counts and its average, so that sums over all rows are right."""
    texts = ("token", "client") if report.by == "session" else ()
    times = ("first", "last") if report.by in ROW_KINDS else ()
    columns = [
        Column(report.by, Kind.TEXT),
        *(Column(name, Kind.COUNT) for name in _COUNTS),
        *(Column("cost", Kind.MONEY), Column("vendor_cost", Kind.MONEY)),
        *(Column("currency", Kind.TEXT), Column("first_byte", Kind.NUMBER)),
        *(Column(name, Kind.TEXT) for name in texts),
        *(Column(name, Kind.TIME) for name in times),
    ]
    rows: list[Row] = [
        (*_numbers(total, number, currency), *(getattr(total, name) for name in (*texts, *times)))
        for total in report.totals
        for number, currency in enumerate(total.cost or [""])
    ]
    return columns, rows


def _numbers(total: Total, number: int, currency: str) -> Row:
    """The key, counts, costs and average of a total in its currency of this number."""
    counts = {"requests": total.requests, "failed": total.failed}
    counts |= {name: getattr(total.usage, name) for name in SUMMED_COUNTS}
    costs = (total.cost.get(currency, 0), total.vendor_cost.get(currency, 0), currency)
    if number:
        return (total.key, *(0 for _ in _COUNTS), *costs, None)
    return (total.key, *(counts[name] for name in _COUNTS), *costs, total.first_byte)


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
