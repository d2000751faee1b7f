"""The report of `modelway usage` as a table, JSON or CSV."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

import click
import orjson
from msgspec import Struct
from rich.cells import cell_len

from engine.cli.output import has_colour, is_terminal
from engine.source.excerpt import printable
from engine.stores.database.schema import SUMMED_COUNTS
from engine.stores.database.sums import UsageFilter
from engine.stores.database.totals import ROW_KINDS, Total
from engine.values.units import format_nano
from engine.values.usage import COMMON

_MAX_KEY_WIDTH = 60
"""The most terminal cells of a key in its column; on a terminal a longer key has its own line."""
_RARE = tuple(name for name in SUMMED_COUNTS if name not in COMMON)
"""The counts that most models do not have."""
_FORMULA = ("=", "+", "-", "@", "\t", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a formula begins with, also in full width."""


class UsageReport(Struct, frozen=True):
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


def print_table(report: UsageReport) -> None:
    """Print a table for people."""
    if not report.totals:
        return
    texts = _TEXTS if report.by == "session" else ()
    lines = _aligned(_rows(report, texts), len(texts))
    lines[0] = click.style(lines[0], bold=True)
    click.echo("\n".join(lines), color=has_colour(sys.stdout))


def _rows(report: UsageReport, texts: Sequence[str]) -> list[list[str]]:
    """The titles, a row for each total, and their sum if there are several."""
    grand_total = report.grand_total
    sums = _numbers(grand_total)
    names = [name for name in sums if name not in _RARE or sums[name]]
    titles = [name.upper().replace("_", " ") for name in names]
    has_margin = any(total.vendor_cost != total.cost for total in report.totals)
    costs = ["COST", "VENDOR COST"] if has_margin else ["COST"]
    rows = [[report.by.upper().replace("_", " "), *texts, *titles, *costs, "FIRST BYTE"]]
    for total in report.totals:
        cells = _texts(total, report.time_zone) if texts else []
        rows.append([printable(total.key) or "-", *cells, *_cells(total, names, costs)])
    if len(rows) > 2:
        rows.append(["total", *("" for _ in texts), *_cells(grand_total, names, costs)])
    return rows


def _aligned(rows: Sequence[Sequence[str]], texts: int) -> list[str]:
    """The lines of rows: a key and so many `texts` to the left, numbers to the right."""
    key_lengths, *columns = (
        [cell_len(cell) for cell in column] for column in zip(*rows, strict=True)
    )
    most = _MAX_KEY_WIDTH if is_terminal(sys.stdout) else max(key_lengths)
    key_width = max(length for length in key_lengths if length <= most)
    widths = [max(lengths) for lengths in columns]
    lines = []
    for (key, *cells), length in zip(rows, key_lengths, strict=True):
        aligned_cells = [
            cell + " " * (width - cell_len(cell)) if at < texts else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        if length > key_width:
            lines.append(key)
            key, length = "", 0
        lines.append("  ".join([key + " " * (key_width - length), *aligned_cells]).rstrip())
    return lines


_TEXTS = ("TOKEN", "CLIENT", "START", "SPAN")
"""The columns that only sessions have."""


def _texts(total: Total, time_zone: tzinfo) -> list[str]:
    """Whose session it is, when it began, and how long it was."""
    if total.first is None or total.last is None:
        return ["", "", "", ""]
    start = datetime.fromtimestamp(total.first, time_zone).strftime("%Y-%m-%d %H:%M")
    span = timedelta(seconds=round(total.last - total.first))
    return [printable(total.token) or "-", printable(total.client) or "-", start, str(span)]


def _cells(total: Total, names: Sequence[str], costs: Sequence[str]) -> list[str]:
    texts = {name: f"{number:,}" for name, number in _numbers(total).items()}
    if share := _cached_share(total):
        texts["cached"] += f" ({share:.0%})"
    amounts = [_money(amount) for amount in (total.cost, total.vendor_cost)[: len(costs)]]
    return [*(texts[name] for name in names), *amounts, _seconds(total)]


def _cached_share(total: Total) -> float | None:
    """The share of the input that was read from caches, None without any input."""
    return total.usage.cached / total.usage.input if total.usage.input else None


def _numbers(total: Total) -> dict[str, int]:
    """The numbers of a total by their names."""
    counts = {name: getattr(total.usage, name) for name in SUMMED_COUNTS}
    return {"requests": total.requests, "failed": total.failed, **counts}


def print_json(report: UsageReport) -> None:
    """Print one document of JSON."""
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
    return {
        **_numbers(total),
        "cost": {currency: format_nano(nanos) for currency, nanos in total.cost.items()},
        "vendor_cost": {name: format_nano(nanos) for name, nanos in total.vendor_cost.items()},
        "first_byte": total.first_byte,
        "cached_share": _cached_share(total),
    }


def print_csv(report: UsageReport) -> None:
    """Print one line for each total, and one for each further currency of it."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    names = [name for name in _numbers(Total()) if name not in _RARE]
    by = report.by
    titles = [
        *names,
        "cost",
        "currency",
        "first_byte",
        *_RARE,
        *_details(by, Total()),
        "vendor_cost",
    ]
    writer.writerow([by, *titles])
    for total in report.totals:
        currency, *other_currencies = list(total.cost) or [""]
        costs = {
            name: (
                format_nano(total.cost.get(name, 0)),
                format_nano(total.vendor_cost.get(name, 0)),
            )
            for name in (currency, *other_currencies)
        }
        counts = _numbers(total)
        numbers = [counts[name] for name in names]
        byte = "" if total.first_byte is None else f"{total.first_byte:.6f}"
        rare = [counts[name] for name in _RARE]
        details = [spreadsheet_cell(value) for value in _details(by, total).values()]
        key = spreadsheet_cell(total.key)
        cost, vendor_cost = costs[currency]
        writer.writerow([key, *numbers, cost, currency, byte, *rare, *details, vendor_cost])
        for name in other_currencies:
            zeros, rares = [0] * len(numbers), [0] * len(rare)
            cost, vendor_cost = costs[name]
            writer.writerow([key, *zeros, cost, name, "", *rares, *details, vendor_cost])


def spreadsheet_cell(value: str | float | None) -> str:
    """A cell that a spreadsheet does not compute: callers choose names, and `=...` is a formula. A
    line end would begin a row."""
    if isinstance(value, str):
        text = printable(value)
        return f"'{text}" if text.startswith(_FORMULA) else text
    return "" if value is None else f"{value:.3f}"


def _money(amounts: Mapping[str, int]) -> str:
    return " + ".join(f"{format_nano(nanos)} {currency}" for currency, nanos in amounts.items())


def _seconds(total: Total) -> str:
    return "" if total.first_byte is None else f"{total.first_byte:.3f} s"
