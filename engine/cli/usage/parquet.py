"""Parquet files of exports, which need the extra `parquet`: it is imported when one is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import IO, Any

import click

from engine.cli.usage.export_table import Column, Kind, Row, decimal_of

_VALUES: dict[Kind, Callable[[Any], Any]] = {
    Kind.TIME: lambda seconds: round(seconds * 1_000_000),
    Kind.MONEY: decimal_of,
}


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
