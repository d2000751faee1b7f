"""The terminal of `modelway top`: figures for 80 by 24 characters or more, and the keyboard."""

from __future__ import annotations

import os
import sys
import termios
import time
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from engine.console.activity.figures import Activity, Figures, Quantiles, UpstreamActivity
from engine.source.excerpt import printable
from engine.values.units import format_amount, format_number, format_percent, format_seconds

_HEAD_LINES = 4
"""Lines above the tables, without the alerts."""
_KEY_TIMEOUT = 2
"""Tenths of a second for which the keyboard waits for a key."""
_BREAKER_STYLES = {"open": "bold red", "half-open": "yellow", "closed": "green"}


def render(figures: Figures, title: str, height: int | None, alert: str = "") -> RenderableType:
    """The figures, cut to `height` lines (None: all). `alert` is why they are not current."""
    alerts = ([alert] if alert else []) + figures.alerts
    alerts = alerts if height is None else alerts[:3]
    tables: list[tuple[Sequence[Activity] | Sequence[UpstreamActivity], str]] = [
        (figures.models, "MODEL"),
        (figures.upstreams, "UPSTREAM"),
        (figures.operations, "OPERATION"),
    ]
    counts = [len(rows) for rows, _ in tables]
    shares = counts
    if height is not None:
        room = height - _HEAD_LINES - len(alerts)
        tables = tables[: max(0, room // 3)]  # a table needs a blank line, a head and a row
        shares = _divide(room - 2 * len(tables), counts[: len(tables)])
    parts: list[RenderableType] = [_title(title), *_totals(figures)]
    parts += [
        Text(printable(f"! {text}"), "bold red", no_wrap=True, overflow="ellipsis")
        for text in alerts
    ]
    for (rows, name), count in zip(tables, shares, strict=True):
        parts += [Text(""), _table(name, rows, count, expand=height is not None)]
    return Group(*parts)


def _divide(room: int, counts: Sequence[int]) -> list[int]:
    """Divide the rows of the screen equally among the tables. Rows that a table does not need are
    given to the others."""
    shares = [0] * len(counts)
    for _ in range(max(0, room)):
        unfilled = [i for i, count in enumerate(counts) if shares[i] < count]
        if not unfilled:
            break
        shares[min(unfilled, key=lambda i: shares[i])] += 1
    return shares


def _title(title: str) -> Text:
    return Text(title, "bold", no_wrap=True, overflow="ellipsis")


def _totals(figures: Figures) -> list[Text]:
    cost = " + ".join(
        f"{format_amount(rate)} {currency}/h" for currency, rate in figures.cost.items()
    )
    failed = format_percent(figures.failed, figures.requests)
    style = "bold red" if figures.failed else ""
    first = Text.assemble(
        ("requests ", "dim"), f"{format_number(figures.requests)}/s   ",
        ("failed ", "dim"),
        (f"{format_number(figures.failed)}/s {failed}   ", style),
        ("refused ", "dim"), f"{format_number(figures.refusals)}/s   ",
        ("in flight ", "dim"), f"{figures.in_flight:.0f}   ",
        ("workers ", "dim"), f"{figures.workers:.0f}",
    )  # fmt: skip
    second = Text.assemble(
        ("50/95%  duration ", "dim"), f"{_pair(figures.duration)}   ",
        ("first byte ", "dim"), f"{_pair(figures.first_byte)}   ",
        ("gateway ", "dim"), f"{_pair(figures.overhead)}   ",
        ("99%  loop lag ", "dim"), format_seconds(figures.loop_lag),
    )  # fmt: skip
    third = Text.assemble(
        ("tokens in ", "dim"), f"{format_number(figures.tokens_in)}/s   ",
        ("out ", "dim"), f"{format_number(figures.tokens_out)}/s   ",
        ("cost ", "dim"), f"{cost or '0'}   ",
        ("websockets ", "dim"), f"{figures.sessions:.0f}",
    )  # fmt: skip
    for line in (first, second, third):
        line.no_wrap, line.overflow = True, "ellipsis"
    return [first, second, third]


def _pair(quantiles: Quantiles) -> str:
    return f"{format_seconds(quantiles[0])} {format_seconds(quantiles[1])}"


def _table(
    name: str,
    rows: Sequence[Activity] | Sequence[UpstreamActivity],
    count: int,
    *,
    expand: bool,
) -> Table:
    hidden = len(rows) - count
    head = f"{name} (and {hidden} more)" if hidden else name
    table = Table(box=None, expand=expand, padding=(0, 0, 0, 2), pad_edge=False, show_edge=False)
    table.add_column(head, no_wrap=True, overflow="ellipsis", ratio=1)
    for title, width in _columns(name):
        table.add_column(title, justify="right", no_wrap=True, min_width=width)
    for row in rows[:count]:
        if isinstance(row, UpstreamActivity):
            table.add_row(*_upstream_cells(row))
        else:
            table.add_row(*_activity_cells(row, name == "MODEL"))
    return table


def _columns(name: str) -> list[tuple[str, int]]:
    if name == "UPSTREAM":
        return [
            ("ATTEMPTS", 8), ("FAILED", 6), ("RETRIES", 7), ("1ST 95%", 7),
            ("POOL", 5), ("BREAKER", 9),
        ]  # fmt: skip
    more = [("TOKENS/S", 8), ("COST/H", 6)] if name == "MODEL" else []
    return [("REQ/S", 6), ("FAILED", 6), ("50%", 6), ("95%", 6), ("1ST 95%", 7), *more]


def _activity_cells(row: Activity, model: bool) -> list[Text | str]:
    more = [format_number(row.tokens), format_amount(row.cost)] if model else []
    failed = Text(format_percent(row.failed, row.requests), "bold red" if row.failed else "")
    times = [format_seconds(value) for value in (*row.duration, row.first_byte)]
    return [_name(row.name), format_number(row.requests), failed, *times, *more]


def _upstream_cells(row: UpstreamActivity) -> list[Text | str]:
    return [
        _name(row.name),
        format_number(row.attempts),
        Text(format_percent(row.failed, row.attempts), "bold red" if row.failed else ""),
        f"{format_number(row.retries)}/s",
        format_seconds(row.first_byte),
        f"{row.busy:.0f}/{row.busy + row.idle:.0f}",
        Text(row.breaker, _BREAKER_STYLES.get(row.breaker, "")),
    ]


def _name(name: str) -> Text:
    """A name as text, without interpreting rich's markup."""
    return Text(printable(name), no_wrap=True, overflow="ellipsis")


class Keyboard:
    """The keyboard of a terminal, read key by key without Enter; none if `fd` is None."""

    def __init__(self, fd: int | None) -> None:
        self._fd = fd

    def read_key(self) -> str:
        """The key that is pressed within a fifth of a second, "" for none."""
        if self._fd is None:
            time.sleep(_KEY_TIMEOUT / 10)
            return ""
        return os.read(self._fd, 1).decode("latin-1")


@contextmanager
def open_keyboard() -> Iterator[Keyboard]:
    """The keyboard; the terminal's mode is restored at the end of the block."""
    fd = sys.stdin.fileno()
    if not os.isatty(fd):
        yield Keyboard(None)
        return
    before = termios.tcgetattr(fd)
    try:
        tty.setcbreak(fd)
        mode = termios.tcgetattr(fd)
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 0, _KEY_TIMEOUT
        termios.tcsetattr(fd, termios.TCSANOW, mode)
        yield Keyboard(fd)
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
