"""`modelway token list` and `show`: the commands that print tokens."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import click
import orjson
from rich.console import Console
from rich.table import Table

from engine.cli.database import database_options, open_records, records_of
from engine.config.config_files import ConfigFiles
from engine.source.excerpt import printable
from engine.stores.records import tokens
from engine.stores.records.tokens import Token

_COLUMNS = ("name", "team", "state", "models", "operations", "ips", "limits", "expires", "note")
_LIMITS = ("rate", "token_budget", "budget", "concurrency")
_DEFAULTS = {"models": "all", "operations": "all", "ips": "all", "expires": "never"}


@click.command("list")
@click.option(
    "--format", "output_format", type=click.Choice(["table", "json", "csv"]), default="table",
    show_default=True, help="table for people; json and csv for programs, with every field.",
)  # fmt: skip
@database_options
def list_tokens(config: ConfigFiles, database: str | None, output_format: str) -> None:
    """List the tokens of the database by name; those of gateway.yaml are not in it.

    \b
    Expired tokens:  modelway token list --format json | jq '.[] | select(.state=="expired")'
    """
    now = time.time()
    with open_records(records_of(config, database)) as records:
        rows = (_fields(token, now) for token in tokens.get_all(records))
        {"table": _print_table, "json": _print_json, "csv": _print_csv}[output_format](rows)


@click.command("show")
@click.argument("name")
@database_options
def show(config: ConfigFiles, database: str | None, name: str) -> None:
    """Show one token: what it may be used for, its limits, and its state.

    Its secret cannot be shown: only the SHA-256 of it is stored.
    """
    with open_records(records_of(config, database)) as records:
        token = tokens.get(records, name)
    for key, value in _fields(token, time.time()).items():
        text = _DEFAULTS.get(key, "-") if value is None else _cell(value) or "none"
        if value != "":
            click.echo(f"{key.replace('_', ' '):17} {text}")


def iso_time(seconds: float | None) -> str | None:
    """Unix seconds in ISO 8601, UTC, to the second."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _print_table(rows: Iterable[Mapping[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in _COLUMNS:
        table.add_column(heading.upper(), overflow="fold", no_wrap=heading in ("state", "expires"))
    for row in rows:
        limits = [str(row[key]) for key in _LIMITS if row[key] is not None]
        if row["concurrency"] is not None:
            limits[-1] += " at a time"
        cells = {**row, "limits": ", ".join(limits), "expires": (row["expires"] or "")[:10]}
        table.add_row(*(printable(_cell(cells[key])) for key in _COLUMNS))
    if not table.row_count:
        click.echo("no tokens: create one with `modelway token create --name NAME`", err=True)
        return
    console = Console(highlight=False, markup=False, emoji=False)
    console.width = max(console.width, 120)
    console.print(table)


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
        writer.writerow(map(_cell, row.values()))


def _fields(token: Token, now: float) -> Mapping[str, Any]:
    """The fields of a token without its secrets; None for those that are not set."""
    rotated = token.previous_until is not None and token.previous_until > now
    return {
        "name": token.name,
        "team": token.team,
        "state": _state(token, now),
        "models": _list(token.models),
        "operations": _list(token.operations),
        "ips": _list(token.ips),
        "rate": token.rate,
        "token_budget": token.token_budget,
        "budget": token.budget,
        "concurrency": token.concurrency,
        "priority": token.priority,
        "created": iso_time(token.created),
        "expires": iso_time(token.expires),
        "revoked": iso_time(token.revoked),
        "old_secret_until": iso_time(token.previous_until) if rotated else None,
        "note": token.note,
        "sha256": token.sha256,
    }


def _state(token: Token, now: float) -> str:
    if token.revoked is not None:
        return "revoked"
    return "expired" if token.expires is not None and token.expires <= now else "active"


def _cell(value: object) -> str:
    """A field as text."""
    if value is None:
        return ""
    return ",".join(value) if isinstance(value, list) else str(value)


def _list(texts: tuple[str, ...] | None) -> list[str] | None:
    return None if texts is None else list(texts)
