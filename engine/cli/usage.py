"""`modelway usage`: sum requests, model tokens and cost over the ledger."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import click
import orjson
from rich.cells import cell_len

from engine.cli.database import DatabaseLocation, database_at, database_options, location_of
from engine.cli.output_format import format_option
from engine.cli.terminal import has_colour, is_terminal
from engine.config.config_files import ConfigFiles
from engine.source.excerpt import printable
from engine.source.suggestion import did_you_mean
from engine.stores.database.database import Database
from engine.stores.database.schema import SUMMED_COUNTS
from engine.stores.database.sums import UsageFilter
from engine.stores.database.totals import (
    KINDS,
    MAX_GROUPS,
    ROW_KINDS,
    Total,
    deleted_before,
    distinct_values,
    existing_ids,
    totals,
)
from engine.stores.ledger.journal_folder import count_unshipped
from engine.values import units
from engine.values.calendar import PERIODS, SECOND, Calendar
from engine.values.units import format_count, format_nano
from engine.values.usage import COMMON

_MAX_KEY_WIDTH = 60
"""The most terminal cells of a key in its column; on a terminal a longer key has its own line."""
_RARE = tuple(name for name in SUMMED_COUNTS if name not in COMMON)
"""The counts that most models do not have."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Totals of the `selection`, grouped `by`, without the `unshipped` rows of the journal. Times
    are shown in the `time_zone`."""

    by: str
    selection: UsageFilter
    totals: Sequence[Total]
    unshipped: int
    time_zone: tzinfo = UTC

    @property
    def grand_total(self) -> Total:
        return sum(self.totals, Total("total"))


def _time_zone(ctx: click.Context, param: click.Parameter, name: str) -> str:
    try:
        return Calendar("day", name).time_zone
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from error


@click.command()
@click.option(
    "--by", type=click.Choice(KINDS), default="token", show_default=True,
    help="Group by. `model` is the requested name, `served` the name sent to the upstream, `price` "
    "the source of the price, `client` the program of the caller, `session` what that calls its "
    "session.",
)  # fmt: skip
@click.option(
    "--since", default="7d", show_default=True,
    help="Start: a duration ago (24h, 30d), a day (2027-01-31), a time (2027-01-31T12:00), or day, "
    "week or month for the start of the current one.",
)  # fmt: skip
@click.option("--until", help="End, like --since; a day is included completely.  [default: now]")
@click.option(
    "--time-zone", default="UTC", show_default=True, metavar="ZONE", callback=_time_zone,
    help="The time zone of days and times, like Europe/Vienna.",
)  # fmt: skip
@click.option("--token", default="", metavar="NAME", help="Only this token's requests.")
@click.option("--model", default="", metavar="NAME", help="Only this model, requested or served.")
@click.option("--client", default="", metavar="NAME", help="Only this program.")
@click.option("--session", default="", metavar="ID", help="Only this session.")
@click.option(
    "--most", type=click.IntRange(1, 100_000), default=MAX_GROUPS, show_default=True,
    help="List so many clients or sessions; `(others)` is the sum of all further ones.",
)  # fmt: skip
@format_option(("text", "json", "csv"), "text for people; json and csv for programs.")
@database_options
def command(
    config: ConfigFiles,
    database_url: str | None,
    by: str,
    output_format: str,
    most: int,
    **options: Any,
) -> None:
    """Sum the ledger: requests, model tokens, money, and time to the first byte.

    FAILED are requests that were refused, answered with an error, or broke off. CACHED tokens are
    part of INPUT, with their share of it, as are CACHE WRITE, AUDIO INPUT and IMAGE INPUT;
    REASONING, AUDIO OUTPUT and IMAGE OUTPUT are part of OUTPUT. Rare columns are shown only if they
    are not all 0. FIRST BYTE is the average time to the first content of an answer. Money is exact;
    currencies are summed separately.

    \b
    By token, this month:    modelway usage --since month --time-zone Europe/Vienna
    What agents cost:        modelway usage --by client --since month
    Each of their sessions:  modelway usage --by session --token shop --since 24h
    One token, day by day:   modelway usage --by day --token shop --since 2027-01-01
    For a spreadsheet:       modelway usage --by model --since 90d --format csv
    """
    selection = _selection(time.time(), **options)
    location = location_of(config, database_url)
    time_zone = ZoneInfo(options["time_zone"])
    with database_at(location) as database:
        rows = totals(database, by, selection, time_zone, most)
        report = UsageReport(by, selection, rows, _unshipped(database, location), time_zone)
        if (deleted := deleted_before(database)) > max(selection.since, 0.0):
            deleted_text = datetime.fromtimestamp(deleted, time_zone).isoformat(" ", "minutes")
            click.echo(f"rows from before {deleted_text} were deleted (stores.retention)", err=True)
        if not rows:
            click.echo(_no_requests(database, selection), err=True)
    {"text": print_table, "json": _print_json, "csv": _print_csv}[output_format](report)
    if report.unshipped:
        count = format_count(report.unshipped, "row")
        click.echo(f"{count} in {location.journal} not yet in the database", err=True)


def _selection(
    now: float, since: str, until: str | None, time_zone: str, **names: str
) -> UsageFilter:
    start = _time("--since", since, now, time_zone, end_of_day=False)
    end = now if until is None else _time("--until", until, now, time_zone, end_of_day=True)
    if start >= end:
        message = f"'{since}' is not before {until or 'now'}"
        raise click.BadParameter(message, param_hint="--since")
    return UsageFilter(start, end, **names)


def _time(option: str, text: str, now: float, time_zone: str, *, end_of_day: bool) -> float:
    """Unix seconds of a time, of the start or end of a day, or of the start of a period."""
    if text in PERIODS:
        return Calendar(text, time_zone).window(int(now) * SECOND)[0] / SECOND
    try:
        return now - units.seconds(text)
    except ValueError:
        pass
    try:
        return units.unix_time(text, end_of_day=end_of_day, time_zone=ZoneInfo(time_zone))
    except ValueError as error:
        message = (
            f"'{text}' is neither a duration like 24h or 7d nor a day or time like 2027-01-31, "
            "nor day, week or month"
        )
        raise click.BadParameter(message, param_hint=option) from error


def _unshipped(database: Database, location: DatabaseLocation) -> int:
    if location.journal is None:
        return 0
    try:
        return count_unshipped(location.journal, lambda ids: existing_ids(database, ids))
    except OSError as error:
        warning = f"cannot read the journal {location.journal}: {error.strerror}"
        click.echo(warning, err=True)
        return 0


def _no_requests(database: Database, selection: UsageFilter) -> str:
    """Why the selection is empty: an unknown name, with a similar one."""
    for kind, name in (("client", selection.client), ("session", selection.session)):
        if name:
            return f"no requests of {kind} '{printable(name)}' in this period"
    period = UsageFilter(selection.since, selection.until)
    for kind, name in (("token", selection.token), ("model", selection.model)):
        if not name:
            continue
        known_names = distinct_values(database, kind, period)
        if kind == "model":
            known_names += distinct_values(database, "served", period)
        if name not in known_names:
            hint = did_you_mean(name, known_names) or "there are no others"
            return f"no requests of {kind} '{name}' in this period: {hint}"
    return "no requests in this period"


def print_table(report: UsageReport) -> None:
    if not report.totals:
        return
    grand_total = report.grand_total
    sums = _numbers(grand_total)
    names = [name for name in sums if name not in _RARE or sums[name]]
    titles = [name.upper().replace("_", " ") for name in names]
    texts = _TEXTS if report.by == "session" else ()
    rows = [[report.by.upper().replace("_", " "), *texts, *titles, "COST", "FIRST BYTE"]]
    for total in report.totals:
        described = _texts(total, report.time_zone) if texts else []
        key = printable(total.key) or "-"
        rows.append([key, *described, *_cells(total, names)])
    if len(rows) > 2:
        described = ["" for _ in texts]
        rows.append(["total", *described, *_cells(grand_total, names)])
    first, *other_columns = (
        [cell_len(cell) for cell in column] for column in zip(*rows, strict=True)
    )
    most = _MAX_KEY_WIDTH if is_terminal(sys.stdout) else max(first)
    width = max(length for length in first if length <= most)
    widths = [max(lengths) for lengths in other_columns]
    lines = []
    for (key, *cells), length in zip(rows, first, strict=True):
        padded = [
            cell + " " * (width - cell_len(cell)) if at < len(texts) else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        if length > width:
            lines.append(key)
            key, length = "", 0
        lines.append("  ".join([key + " " * (width - length), *padded]).rstrip())
    lines[0] = click.style(lines[0], bold=True)
    click.echo("\n".join(lines), color=has_colour(sys.stdout))


_TEXTS = ("TOKEN", "CLIENT", "START", "SPAN")
"""The columns that only sessions have."""


def _texts(total: Total, time_zone: tzinfo) -> list[str]:
    """Whose session it is, when it began, and how long it was."""
    if total.first is None or total.last is None:
        return ["", "", "", ""]
    start = datetime.fromtimestamp(total.first, time_zone).strftime("%Y-%m-%d %H:%M")
    span = timedelta(seconds=round(total.last - total.first))
    return [printable(total.token) or "-", printable(total.client) or "-", start, str(span)]


def _cells(total: Total, names: Sequence[str]) -> list[str]:
    texts = {name: f"{number:,}" for name, number in _numbers(total).items()}
    if share := _cached_share(total):
        texts["cached"] += f" ({share:.0%})"
    return [*(texts[name] for name in names), _money(total), _seconds(total)]


def _cached_share(total: Total) -> float | None:
    """The share of the input that was read from caches, None without any input."""
    return total.usage.cached / total.usage.input if total.usage.input else None


def _numbers(total: Total) -> dict[str, int]:
    """The numbers of a total by their names."""
    counts = {name: getattr(total.usage, name) for name in SUMMED_COUNTS}
    return {"requests": total.requests, "failed": total.failed, **counts}


def _print_json(report: UsageReport) -> None:
    selection = report.selection
    document = {
        "by": report.by,
        "since": selection.since,
        "until": selection.until,
        "totals": [
            {report.by: total.key, **_details(report.by, total), **_fields(total)}
            for total in report.totals
        ],
        "total": _fields(report.grand_total),
        "not_yet_in_the_database": report.unshipped,
    }
    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())


def _details(by: str, total: Total) -> dict[str, Any]:
    """What the totals by this grouping have beside their numbers."""
    session = {"token": total.token, "client": total.client} if by == "session" else {}
    times = {"first": total.first, "last": total.last} if by in ROW_KINDS else {}
    return {**session, **times}


def _fields(total: Total) -> dict[str, Any]:
    cost = {currency: format_nano(nanos) for currency, nanos in total.cost.items()}
    return {
        **_numbers(total),
        "cost": cost,
        "first_byte": total.first_byte,
        "cached_share": _cached_share(total),
    }


def _print_csv(report: UsageReport) -> None:
    """One line for each total, and one for each further currency of it."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    names = [name for name in _numbers(Total()) if name not in _RARE]
    by = report.by
    titles = [*names, "cost", "currency", "first_byte", *_RARE, *_details(by, Total())]
    writer.writerow([by, *titles])
    for total in report.totals:
        first, *other_currencies = list(total.cost.items()) or [("", 0)]
        counts = _numbers(total)
        numbers = [counts[name] for name in names]
        byte = "" if total.first_byte is None else f"{total.first_byte:.6f}"
        rare = [counts[name] for name in _RARE]
        details = [_cell(value) for value in _details(by, total).values()]
        key = _cell(total.key)
        writer.writerow([key, *numbers, format_nano(first[1]), first[0], byte, *rare, *details])
        for currency, nanos in other_currencies:
            zeros, rares = [0] * len(numbers), [0] * len(rare)
            amount = format_nano(nanos)
            writer.writerow([key, *zeros, amount, currency, "", *rares, *details])


def _cell(value: str | float | None) -> str:
    """A cell that a spreadsheet does not compute: callers choose names, and `=...` is a formula."""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return "" if value is None else f"{value:.3f}"


def _money(total: Total) -> str:
    return " + ".join(f"{format_nano(nanos)} {currency}" for currency, nanos in total.cost.items())


def _seconds(total: Total) -> str:
    return "" if total.first_byte is None else f"{total.first_byte:.3f} s"
