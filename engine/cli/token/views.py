"""`modelway token list` and `show`: commands that print tokens."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click
import orjson
from rich.console import Console
from rich.table import Table

from engine.cli.token.database import place_of, place_options, records
from engine.cli.token.display import cell, shown
from engine.source.excerpt import printable
from engine.stores.records import tokens

_COLUMNS = ("name", "state", "models", "operations", "ips", "limits", "expires", "note")
_LIMITS = ("rate", "token_budget", "budget", "concurrency")


@click.command("list")
@click.option(
    "--format", "form", type=click.Choice(["table", "json", "csv"]), default="table",
    show_default=True, help="For people, or for programs: with every field.",
)  # fmt: skip
@place_options
def list_tokens(config: Path, database: str | None, form: str) -> None:
    """List the tokens of the database, by name; those of gateway.yaml stand there.

    \b
    Who has expired:  modelway token list --format json | jq '.[] | select(.state=="expired")'
    """
    now = time.time()
    with records(place_of(config, database)) as opened:
        found = (shown(token, now) for token in tokens.every(opened))
        {"table": _table, "json": _json, "csv": _csv}[form](found)


def _table(found: Iterable[Mapping[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in _COLUMNS:
        table.add_column(heading.upper(), overflow="fold", no_wrap=heading in ("state", "expires"))
    for token in found:
        limits = [str(token[key]) for key in _LIMITS if token[key] is not None]
        if token["concurrency"] is not None:
            limits[-1] += " at a time"
        cells = {**token, "limits": ", ".join(limits), "expires": (token["expires"] or "")[:10]}
        table.add_row(*(printable(cell(cells[key])) for key in _COLUMNS))
    if not table.row_count:
        click.echo("no tokens yet: make one with `modelway token create --name NAME`", err=True)
        return
    console = Console(highlight=False, markup=False, emoji=False)
    console.width = max(console.width, 120)
    console.print(table)


def _json(found: Iterable[Mapping[str, Any]]) -> None:
    before = "["
    for token in found:
        click.echo(f"{before}\n{orjson.dumps(token).decode()}", nl=False)
        before = ","
    click.echo("[]" if before == "[" else "\n]")


def _csv(found: Iterable[Mapping[str, Any]]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for number, token in enumerate(found):
        if number == 0:
            writer.writerow(token)
        writer.writerow(map(cell, token.values()))


_UNBOUND = {"models": "all", "operations": "all", "ips": "all", "expires": "never"}


@click.command("show")
@click.argument("name")
@place_options
def show(config: Path, database: str | None, name: str) -> None:
    """Show one token: what it may be used for, how much, and how it stands.

    Its secret cannot be shown: only the SHA-256 of it is kept.
    """
    with records(place_of(config, database)) as opened:
        token = tokens.named(opened, name)
    for key, value in shown(token, time.time()).items():
        text = _UNBOUND.get(key, "-") if value is None else cell(value) or "none"
        if value != "":
            click.echo(f"{key.replace('_', ' '):17} {text}")
