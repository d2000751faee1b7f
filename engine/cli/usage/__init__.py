"""`modelway usage`: sum requests, model tokens and cost over the ledger."""

from __future__ import annotations

import re
import time
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import click

from engine.cli.database import DatabaseLocation, database_at, database_options, location_of
from engine.cli.output import format_option
from engine.cli.usage.export_file import WRITERS, write_export
from engine.cli.usage.export_table import row_columns, row_groups, totals_table
from engine.cli.usage.focus import print_focus
from engine.cli.usage.left import show_left
from engine.cli.usage.report import UsageReport, print_csv, print_json, print_table
from engine.config.config_files import ConfigFiles
from engine.source.excerpt import printable
from engine.source.suggestion import did_you_mean
from engine.stores.database.database import Database
from engine.stores.database.sums import UsageFilter
from engine.stores.database.totals import (
    KINDS,
    MAX_GROUPS,
    charges,
    deleted_before,
    distinct_values,
    existing_ids,
    totals,
)
from engine.stores.ledger.journal_folder import count_unshipped
from engine.stores.usage_query import TAG
from engine.values import units
from engine.values.calendar import PERIODS, SECOND, Calendar
from engine.values.units import format_count


def _time_zone(ctx: click.Context, param: click.Parameter, name: str) -> str:
    try:
        return Calendar("day", name).time_zone
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from error


class _Grouping(click.Choice[str]):
    """One of some words, or the name of a tag, which becomes `tag:NAME`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in self.choices or not re.fullmatch("[a-z][a-z0-9_]{0,31}", str(value)):
            return super().convert(value, param, ctx)
        return f"{TAG}{value}"


@click.command()
@click.option(
    "--by", type=_Grouping(KINDS), default="token", show_default=True,
    help="Group by, or by the name of a tag (`tags` of the config). `model` is the requested "
    "name, `served` the name sent to the upstream, `price` "
    "the source of the price, `client` the program of the caller, `session` what that calls its "
    "session, `via` is mcp for tools that were called, batch for requests of batches, mirror for "
    "copies.",
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
@click.option("--team", default="", metavar="NAME", help="Only this team's requests.")
@click.option("--model", default="", metavar="NAME", help="Only this model, requested or served.")
@click.option("--client", default="", metavar="NAME", help="Only this program.")
@click.option("--session", default="", metavar="ID", help="Only this session.")
@click.option(
    "--via", type=click.Choice(["mcp", "batch", "mirror"]),
    callback=lambda ctx, param, name: name or "",
    help="Only calls of tools, requests of batches, or copies.",
)  # fmt: skip
@click.option(
    "--most", type=click.IntRange(1, 100_000), default=MAX_GROUPS, show_default=True,
    help="List so many clients or sessions; `(others)` is the sum of all further ones.",
)  # fmt: skip
@click.option(
    "--left", is_flag=True,
    help="What is left of every limit now, those near their end first. Of the other options only "
    "--token and --format apply.",
)  # fmt: skip
@click.option(
    "--rows", "as_rows", is_flag=True,
    help="Not sums, but every row that is selected, in the order of time, as csv, json (an object "
    "a line) or parquet. --by and --most do not apply.",
)  # fmt: skip
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write --rows or parquet to a file, which is there when it is complete.",
)  # fmt: skip
@format_option(
    ("text", "json", "csv", "focus", "parquet"),
    "text for people; json, csv and parquet (with modelway[parquet]) for programs; focus is CSV "
    "with the columns of FOCUS 1.2, for each day, token, model and upstream.",
)
@database_options
def command(
    config: ConfigFiles,
    database_url: str | None,
    by: str,
    output_format: str,
    most: int,
    left: bool,
    as_rows: bool,
    output: Path | None,
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
    Tools that they call:    modelway usage --by operation --via mcp --since month
    Each of their sessions:  modelway usage --by session --token shop --since 24h
    One token, day by day:   modelway usage --by day --token shop --since 2027-01-01
    For a spreadsheet:       modelway usage --by model --since 90d --format csv
    For a warehouse:         modelway usage --rows --since month --format parquet -o usage.parquet
    What is left of limits:  modelway usage --left
    """
    _check_options(output_format, left=left, as_rows=as_rows, has_output=output is not None)
    if left:
        show_left(config, database_url, options["token"], output_format)
        return
    selection = _selection(time.time(), **options)
    location = location_of(config, database_url)
    _check_tag(by, location)
    time_zone = ZoneInfo(options["time_zone"])
    if as_rows:
        with database_at(location) as database:
            write_export(output_format, output, row_columns(), row_groups(database, selection))
    elif output_format == "focus":
        with database_at(location) as database:
            print_focus(charges(database, selection))
    else:
        _write_report(_report(location, by, selection, time_zone, most), output_format, output)


def _check_options(output_format: str, *, left: bool, as_rows: bool, has_output: bool) -> None:
    """Refuse options that do not go together."""
    if has_output and not as_rows and output_format != "parquet":
        raise click.UsageError("--output is for --rows and parquet: redirect other formats with >")
    if left and (as_rows or output_format in ("focus", "parquet")):
        raise click.UsageError(
            "--left is not a report of costs: use another --format, without --rows"
        )
    if as_rows and output_format not in WRITERS:
        raise click.UsageError(f"--rows needs --format {', '.join(WRITERS)}")


def _report(
    location: DatabaseLocation, by: str, selection: UsageFilter, time_zone: ZoneInfo, most: int
) -> UsageReport:
    """The sums of a selection; notes on stderr what is missing in them, and why."""
    with database_at(location) as database:
        rows = totals(database, by, selection, time_zone, most)
        unshipped = _unshipped(database, location)
        if (deleted := deleted_before(database)) > max(selection.since, 0.0):
            deleted_text = datetime.fromtimestamp(deleted, time_zone).isoformat(" ", "minutes")
            click.echo(f"rows from before {deleted_text} were deleted (stores.retention)", err=True)
        if not rows:
            click.echo(_no_requests(database, selection), err=True)
    if unshipped:
        count = format_count(unshipped, "row")
        click.echo(f"{count} in {location.journal} not yet in the database", err=True)
    return UsageReport(by.removeprefix(TAG), selection, rows, unshipped, time_zone)


def _write_report(report: UsageReport, output_format: str, output: Path | None) -> None:
    if output_format == "parquet":
        columns, totals_rows = totals_table(report)
        write_export(output_format, output, columns, [totals_rows])
    else:
        {"text": print_table, "json": print_json, "csv": print_csv}[output_format](report)


def _check_tag(by: str, location: DatabaseLocation) -> None:
    """Refuse a grouping that is neither a word of the command nor a tag of the config."""
    name = by.removeprefix(TAG)
    if by != name and location.tags is not None and name not in location.tags:
        hint = did_you_mean(name, [*KINDS, *location.tags])
        message = f"'{name}' is neither a grouping nor one of `tags`: {hint}"
        raise click.BadParameter(message, param_hint="--by")


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
    for kind in ("client", "session", "via"):
        if name := getattr(selection, kind):
            return f"no requests of {kind} '{printable(name)}' in this period"
    period = UsageFilter(selection.since, selection.until)
    for kind in ("token", "team", "model"):
        name = getattr(selection, kind)
        if not name:
            continue
        known_names = distinct_values(database, kind, period)
        if kind == "model":
            known_names += distinct_values(database, "served", period)
        if name not in known_names:
            hint = did_you_mean(name, known_names) or "there are no others"
            return f"no requests of {kind} '{name}' in this period: {hint}"
    return "no requests in this period"
