"""Tables of exports: named columns, each of one kind of value, in CSV and JSON lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import IO, Any, NamedTuple

import orjson

from engine.cli.usage.report import spreadsheet_cell
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
