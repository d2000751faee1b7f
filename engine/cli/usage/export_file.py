"""Where an export goes: a file that is complete or not there, or standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click

from engine.cli.complete_file import complete_file
from engine.cli.terminal import is_terminal
from engine.cli.usage.export_table import Column, Row, write_csv, write_json_lines
from engine.cli.usage.parquet import write_parquet

WRITERS = {"csv": write_csv, "json": write_json_lines, "parquet": write_parquet}
"""The formats of exports."""


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
