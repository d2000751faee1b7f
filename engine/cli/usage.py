"""`modelway usage`: what was asked, what it took and what it cost."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import click
import orjson
from rich.cells import cell_len

from engine.cli.token.database import (
    Place,
    place_of,
    place_options,
    records,
)
from engine.source.excerpt import printable
from engine.source.suggestion import did_you_mean
from engine.stores.ledger.journal_folder import count_unshipped
from engine.stores.records.database import Database
from engine.stores.records.totals import (
    KINDS,
    Total,
    Which,
    known,
    names,
    totals,
)
from engine.values import units
from engine.values.usage import NANO

_DAY = 86_400.0
_LONGEST_KEY = 60
"""Cells of a terminal; a longer key has a line to itself."""
_NUMBERS = ("requests", "failed", "input", "output", "cached")


@dataclass(frozen=True, slots=True)
class _Report:
    """Totals of the rows `which`, by `by`; `waiting` rows of the journal are not among them."""

    by: str
    which: Which
    totals: Sequence[Total]
    waiting: int

    @property
    def everything(self) -> Total:
        return sum(self.totals, Total("total"))


@click.command()
@click.option(
    "--by", type=click.Choice(KINDS), default="token", show_default=True,
    help="What to add up by. `model` is what was asked for, `served` the name its upstream got.",
)  # fmt: skip
@click.option(
    "--since", default="7d", show_default=True,
    help="From when: so long ago (24h, 30d), a day (2027-01-31) or a time "
    "(2027-01-31T12:00, all in UTC).",
)  # fmt: skip
@click.option("--until", help="Until when, like --since; a day is taken in whole.  [default: now]")
@click.option("--token", default="", metavar="NAME", help="Only this token's requests.")
@click.option("--model", default="", metavar="NAME", help="Only this model, asked for or served.")
@click.option(
    "--format", "form", type=click.Choice(["table", "json", "csv"]), default="table",
    show_default=True, help="For people, or for programs.",
)  # fmt: skip
@place_options
def command(config: Path, database: str | None, by: str, form: str, **said: Any) -> None:
    """Add up the ledger: requests, model tokens, money, and time to the first byte.

    FAILED are requests that were refused, answered with an error, or broke off. CACHED tokens are
    part of INPUT. FIRST BYTE is the average time until an answer began. Money is exact; each
    currency is summed for itself.

    \b
    Who spent what this month:  modelway usage --since 30d
    One token, day by day:      modelway usage --by day --token shop --since 2027-01-01
    For a spreadsheet:          modelway usage --by model --since 90d --format csv
    """
    which = _which(time.time(), **said)
    place = place_of(config, database)
    with records(place) as opened:
        found = totals(opened, by, which)
        report = _Report(by, which, found, _waiting(opened, place))
        if not found:
            click.echo(_nothing(opened, which), err=True)
    {"table": _table, "json": _json, "csv": _csv}[form](report)
    if report.waiting:
        rows = "1 row" if report.waiting == 1 else f"{report.waiting:,} rows"
        click.echo(f"{rows} in {place.journal} not yet in the database", err=True)


def _which(now: float, since: str, until: str | None, token: str, model: str) -> Which:
    begin = _moment("--since", since, now, 0.0)
    end = now if until is None else _moment("--until", until, now, _DAY)
    if begin >= end:
        message = f"'{since}' is not before {until or 'now'}"
        raise click.BadParameter(message, param_hint="--since")
    return Which(begin, end, token, model)


def _moment(option: str, text: str, now: float, whole_day: float) -> float:
    """A time in Unix seconds; `whole_day` is added to a day without a time."""
    try:
        return now - units.seconds(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError) as error:
        message = f"'{text}' is no duration like 24h or 7d, and no day or time like 2027-01-31"
        raise click.BadParameter(message, param_hint=option) from error
    return seconds + whole_day if len(text) == len("2027-01-31") else seconds


def _waiting(opened: Database, place: Place) -> int:
    if place.journal is None:
        return 0
    try:
        return count_unshipped(place.journal, lambda ids: known(opened, ids))
    except OSError as error:
        why = f"cannot see what waits in the journal {place.journal}: {error.strerror}"
        click.echo(why, err=True)
        return 0


def _nothing(opened: Database, which: Which) -> str:
    """Why there is nothing: a name that is not there, with one that is."""
    everything = Which(which.since, which.until)
    for kind, name in (("token", which.token), ("model", which.model)):
        if not name:
            continue
        there = names(opened, kind, everything)
        if kind == "model":
            there += names(opened, "served", everything)
        if name not in there:
            return (
                f"no request of {kind} '{name}' in this time: {did_you_mean(name, there) or 'none'}"
            )
    return "no requests in this time"


def _table(report: _Report) -> None:
    if not report.totals:
        return
    names = [name.upper() for name in _NUMBERS]
    rows = [[report.by.upper(), *names, "COST", "FIRST BYTE"]]
    rows += [_cells(printable(total.key) or "-", total) for total in report.totals]
    if len(rows) > 2:
        rows.append(_cells("total", report.everything))
    first, *others = ([cell_len(cell) for cell in column] for column in zip(*rows, strict=True))
    width = max(length for length in first if length <= _LONGEST_KEY)
    widths = [max(lengths) for lengths in others]
    lines = []
    for (key, *cells), length in zip(rows, first, strict=True):
        numbers = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
        if length > width:
            lines.append(key)
            key, length = "", 0
        lines.append("  ".join([key + " " * (width - length), *numbers]).rstrip())
    lines[0] = click.style(lines[0], bold=True)
    click.echo("\n".join(lines))


def _cells(key: str, total: Total) -> list[str]:
    numbers = [f"{getattr(total, name):,}" for name in _NUMBERS]
    return [key, *numbers, _money(total), _seconds(total)]


def _json(report: _Report) -> None:
    which = report.which
    said = {
        "by": report.by,
        "since": which.since,
        "until": which.until,
        "totals": [{report.by: total.key, **_fields(total)} for total in report.totals],
        "total": _fields(report.everything),
        "not_yet_in_the_database": report.waiting,
    }
    click.echo(orjson.dumps(said, option=orjson.OPT_INDENT_2).decode())


def _fields(total: Total) -> dict[str, Any]:
    numbers = {name: getattr(total, name) for name in _NUMBERS}
    cost = {currency: _decimal(nanos) for currency, nanos in total.cost.items()}
    return {**numbers, "cost": cost, "first_byte": total.first_byte}


def _csv(report: _Report) -> None:
    """One line for each total; where there are more currencies, one more for each of them."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([report.by, *_NUMBERS, "cost", "currency", "first_byte"])
    for total in report.totals:
        first, *others = list(total.cost.items()) or [("", 0)]
        numbers = [getattr(total, name) for name in _NUMBERS]
        byte = "" if total.first_byte is None else f"{total.first_byte:.6f}"
        writer.writerow([total.key, *numbers, _decimal(first[1]), first[0], byte])
        for currency, nanos in others:
            writer.writerow([total.key, *([0] * len(numbers)), _decimal(nanos), currency, ""])


def _money(total: Total) -> str:
    return " + ".join(f"{_decimal(nanos)} {currency}" for currency, nanos in total.cost.items())


def _decimal(nanos: int) -> str:
    """Nano-units as a number, exact, with two decimals at least: 1500000000 -> 1.50."""
    whole, _, part = f"{Decimal(nanos) / NANO:.9f}".partition(".")
    return f"{whole}.{part.rstrip('0').ljust(2, '0')}"


def _seconds(total: Total) -> str:
    return "" if total.first_byte is None else f"{total.first_byte:.3f} s"
