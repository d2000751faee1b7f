"""`modelway token list`: list the tokens of the database."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any

import click
import orjson

from engine.cli.database import database_at, database_options, location_of
from engine.cli.output import format_option
from engine.cli.text_table import Table, print_table
from engine.cli.token.views import cell, fields_of
from engine.config.config_files import ConfigFiles
from engine.source.excerpt import printable
from engine.stores.database import tokens

_COLUMNS = ("name", "team", "state", "models", "operations", "ips", "limits", "expires", "note")
_LIMITS = ("rate", "token_budget", "budget", "concurrency")


@click.command()
@format_option(
    ("text", "json", "csv"), "text for people; json and csv for programs, with every field."
)
@database_options
def command(config: ConfigFiles, database_url: str | None, output_format: str) -> None:
    """List the tokens of the database by name; those of gateway.yaml are not in it.

    \b
    Expired tokens:  modelway token list --format json | jq '.[] | select(.state=="expired")'
    """
    now = time.time()
    with database_at(location_of(config, database_url)) as database:
        rows = (fields_of(token, now) for token in tokens.get_all(database))
        {"text": _print_table, "json": _print_json, "csv": _print_csv}[output_format](rows)


def _print_table(rows: Iterable[Mapping[str, Any]]) -> None:
    table = Table([heading.upper() for heading in _COLUMNS], [*map(_row, rows)])
    if table.rows:
        print_table(table)
    else:
        click.echo("no tokens: create one with `modelway token create --name NAME`", err=True)


def _row(fields: Mapping[str, Any]) -> tuple[str, ...]:
    limits = [str(fields[key]) for key in _LIMITS if fields[key] is not None]
    if fields["concurrency"] is not None:
        limits[-1] += " at a time"
    cells = {**fields, "limits": ", ".join(limits), "expires": (fields["expires"] or "")[:10]}
    return tuple(printable(cell(cells[key])) for key in _COLUMNS)


def _print_json(rows: Iterable[Mapping[str, Any]]) -> None:
    separator = "["
    for row in rows:
        click.echo(f"{separator}\n{orjson.dumps(row).decode()}", nl=False)
        separator = ","
    click.echo("[]" if separator == "[" else "\n]")


def _print_csv(rows: Iterable[Mapping[str, Any]]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for number, row in enumerate(rows):
        if number == 0:
            writer.writerow(row)
        writer.writerow(map(cell, row.values()))
