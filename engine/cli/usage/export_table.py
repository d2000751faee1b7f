"""Tables of exports: totals, or with `--rows` every row that is selected; as named columns, each of
one kind of value, in CSV and JSON lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import IO, Any, NamedTuple

import orjson

from engine.cli.usage.report import UsageReport, spreadsheet_cell
from engine.stores.database.database import Database
from engine.stores.database.schema import SUMMED_COUNTS
from engine.stores.database.sums import UsageFilter
from engine.stores.database.totals import ROW_KINDS, Total
from engine.stores.database.usage import pages
from engine.stores.ledger_entry import TYPES, Entry
from engine.values.units import format_nano

Row = Sequence[Any]


class Kind(Enum):
    """What a column holds, or None."""

    TEXT = "str"
    COUNT = "int, 64 bits"
    NUMBER = "float"
    FLAG = "bool"
    TIME = "float, Unix seconds"
    MONEY = "int, nano-units: an exact decimal number of units in the export"


class Column(NamedTuple):
    """A column of a table."""

    name: str
    kind: Kind


def write_csv(file: IO[bytes], columns: Sequence[Column], groups: Iterable[Sequence[Row]]) -> None:
    """Write rows as CSV with a line of titles."""
    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    for row in _converted(columns, groups, _CELLS):
        writer.writerow(row)
    text.detach()


def write_json_lines(
    file: IO[bytes], columns: Sequence[Column], groups: Iterable[Sequence[Row]]
) -> None:
    """Write rows as JSON objects, one a line. Money is a decimal text."""
    names = [column.name for column in columns]
    for row in _converted(columns, groups, _MEMBERS):
        file.write(
            orjson.dumps(dict(zip(names, row, strict=True)), option=orjson.OPT_APPEND_NEWLINE)
        )


def decimal_of(nano: int) -> Decimal:
    """Nano-units as a number of units, exactly, whatever the precision of the context."""
    return Decimal(f"{nano}e-9")


def iso_time(seconds: float) -> str:
    """A time in UTC to the microsecond: `2027-01-15T09:01:53.250000Z`."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")[:-6] + "Z"


_CELLS: dict[Kind, Callable[[Any], Any]] = {
    Kind.TEXT: spreadsheet_cell,
    Kind.MONEY: format_nano,
    Kind.TIME: iso_time,
    Kind.FLAG: lambda value: "true" if value else "false",
}
_MEMBERS: dict[Kind, Callable[[Any], Any]] = {Kind.MONEY: format_nano, Kind.TIME: iso_time}


def _converted(
    columns: Sequence[Column],
    groups: Iterable[Sequence[Row]],
    by_kind: dict[Kind, Callable[[Any], Any]],
) -> Iterator[list[Any]]:
    """The rows with the values of some kinds converted."""
    converters = [by_kind.get(column.kind, lambda value: value) for column in columns]
    for group in groups:
        for row in group:
            yield [
                None if value is None else convert(value)
                for convert, value in zip(converters, row, strict=True)
            ]


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
