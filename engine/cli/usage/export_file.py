"""The formats of exports, and where they go: a file that is complete or not there, or the standard
output.

Parquet needs the extra `parquet`, which is imported when a file is written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import click

from engine.cli.output import complete_file, is_terminal
from engine.cli.usage.export_table import Column, Kind, Row, decimal_of, write_csv, write_json_lines

_VALUES: dict[Kind, Callable[[Any], Any]] = {
    Kind.TIME: lambda seconds: round(seconds * 1_000_000),
    Kind.MONEY: decimal_of,
}


def write_export(
    output_format: str,
    path: Path | None,
    columns: Sequence[Column],
    groups: Iterable[Sequence[Row]],
) -> None:
    """Write a table to a path, or to standard output."""
    with export_file(path, binary=output_format == "parquet") as file:
        WRITERS[output_format](file, columns, groups)


@contextmanager
def export_file(path: Path | None, *, binary: bool) -> Iterator[IO[bytes]]:
    """A file to write to: that of a path, which replaces another one when it is complete; without
    a path standard output, which is refused if it is a terminal and the format is `binary`."""
    if path is None:
        if binary and is_terminal(sys.stdout):
            raise click.UsageError("this format is not for a terminal: write --output FILE")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with complete_file(path) as file:
        yield file


def write_parquet(
    file: IO[bytes], columns: Sequence[Column], groups: Iterable[Sequence[Row]]
) -> None:
    """Write rows as Parquet, each group of rows as a row group."""
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        message = "Parquet needs pyarrow: pip install 'modelway[parquet]'"
        raise click.ClickException(message) from error
    kinds = [column.kind for column in columns]
    types = _types(arrow)
    schema = arrow.schema([(column.name, types[column.kind]) for column in columns])
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for rows in filter(None, groups):
            arrays = [
                arrow.array(_column(values, kind), type=types[kind])
                for kind, values in zip(kinds, zip(*rows, strict=True), strict=True)
            ]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))


def _types(arrow: Any) -> dict[Kind, Any]:
    return {
        Kind.TEXT: arrow.string(),
        Kind.COUNT: arrow.int64(),
        Kind.NUMBER: arrow.float64(),
        Kind.FLAG: arrow.bool_(),
        Kind.TIME: arrow.timestamp("us", tz="UTC"),
        Kind.MONEY: arrow.decimal128(38, 9),
    }


def _column(values: Sequence[Any], kind: Kind) -> list[Any]:
    convert = _VALUES.get(kind)
    if convert is None:
        return [*values]
    return [None if value is None else convert(value) for value in values]


WRITERS = {"csv": write_csv, "json": write_json_lines, "parquet": write_parquet}
"""The formats of exports."""
