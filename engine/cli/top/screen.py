"""Figures as a terminal shows them: 80 by 24 is enough, more rows show more."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from engine.cli.top.figures import (
    Figures,
    Quantiles,
    Row,
    Side,
)
from engine.cli.top.words import (
    money,
    number,
    seconds,
    share,
)
from engine.source.excerpt import printable

_HEAD = 4
"""Lines above the tables, troubles not counted."""
_BREAKERS = {"open": "bold red", "half-open": "yellow", "closed": "green"}


def screen(figures: Figures, title: str, height: int | None, trouble: str = "") -> RenderableType:
    """Everything, cut to `height` lines (None: not cut). `trouble` is why nothing is new."""
    troubles = ([trouble] if trouble else []) + figures.troubles
    shown = troubles if height is None else troubles[:3]
    tables: list[tuple[Sequence[Row] | Sequence[Side], str]] = [
        (figures.models, "MODEL"),
        (figures.upstreams, "UPSTREAM"),
        (figures.operations, "OPERATION"),
    ]
    counts = [len(rows) for rows, _ in tables]
    kept = counts
    if height is not None:
        room = height - _HEAD - len(shown)
        tables = tables[: max(0, room // 3)]  # a table is a blank line, its head, a row
        kept = _divided(room - 2 * len(tables), counts[: len(tables)])
    parts: list[RenderableType] = [_title(title), *_totals(figures)]
    parts += [
        Text(printable(f"! {words}"), "bold red", no_wrap=True, overflow="ellipsis")
        for words in shown
    ]
    for (rows, name), count in zip(tables, kept, strict=True):
        parts += [Text(""), _table(name, rows, count)]
    return Group(*parts)


def _divided(room: int, wanted: Sequence[int]) -> list[int]:
    """Room for the tables' rows: each gets what it wants of an equal share, the rest is for those
    that want more."""
    given = [0] * len(wanted)
    for _ in range(max(0, room)):
        hungry = [i for i, want in enumerate(wanted) if given[i] < want]
        if not hungry:
            break
        given[min(hungry, key=lambda i: given[i])] += 1
    return given


def _title(title: str) -> Text:
    return Text(title, "bold", no_wrap=True, overflow="ellipsis")


def _totals(figures: Figures) -> list[Text]:
    cost = " + ".join(f"{money(rate)} {currency}/h" for currency, rate in figures.cost.items())
    failing = "bold red" if figures.failed else ""
    first = Text.assemble(
        ("requests ", "dim"), f"{number(figures.requests)}/s   ",
        ("failed ", "dim"),
        (f"{number(figures.failed)}/s {share(figures.failed, figures.requests)}   ", failing),
        ("refused ", "dim"), f"{number(figures.refused)}/s   ",
        ("in flight ", "dim"), f"{figures.in_flight:.0f}   ",
        ("workers ", "dim"), f"{figures.workers:.0f}",
    )  # fmt: skip
    second = Text.assemble(
        ("50/95%  duration ", "dim"), f"{_two(figures.duration)}   ",
        ("first byte ", "dim"), f"{_two(figures.first_byte)}   ",
        ("gateway ", "dim"), _two(figures.own),
    )  # fmt: skip
    third = Text.assemble(
        ("tokens in ", "dim"), f"{number(figures.tokens_in)}/s   ",
        ("out ", "dim"), f"{number(figures.tokens_out)}/s   ",
        ("cost ", "dim"), f"{cost or '0'}   ",
        ("websockets ", "dim"), f"{figures.sessions:.0f}",
    )  # fmt: skip
    for line in (first, second, third):
        line.no_wrap, line.overflow = True, "ellipsis"
    return [first, second, third]


def _two(pair: Quantiles) -> str:
    return f"{seconds(pair[0])} {seconds(pair[1])}"


def _table(name: str, rows: Sequence[Row] | Sequence[Side], count: int) -> Table:
    hidden = len(rows) - count
    head = f"{name} (and {hidden} more)" if hidden else name
    table = Table(box=None, expand=True, padding=(0, 0, 0, 2), pad_edge=False, show_edge=False)
    table.add_column(head, no_wrap=True, overflow="ellipsis", ratio=1)
    for title, width in _columns(name):
        table.add_column(title, justify="right", no_wrap=True, min_width=width)
    for row in rows[:count]:
        cells = _side(row) if isinstance(row, Side) else _row(row, name == "MODEL")
        table.add_row(*cells)
    return table


def _columns(name: str) -> list[tuple[str, int]]:
    if name == "UPSTREAM":
        return [
            ("TRIES/S", 7), ("FAILED", 6), ("RETRIES", 7), ("1ST 95%", 7),
            ("POOL", 5), ("BREAKER", 9),
        ]  # fmt: skip
    more = [("TOKENS/S", 8), ("COST/H", 6)] if name == "MODEL" else []
    return [("REQ/S", 6), ("FAILED", 6), ("50%", 6), ("95%", 6), ("1ST 95%", 7), *more]


def _row(row: Row, model: bool) -> list[Text | str]:
    more = [number(row.tokens), money(row.cost)] if model else []
    failed = Text(share(row.failed, row.requests), "bold red" if row.failed else "")
    times = [seconds(row.duration[0]), seconds(row.duration[1]), seconds(row.first_byte)]
    return [_name(row.name), number(row.requests), failed, *times, *more]


def _side(side: Side) -> list[Text | str]:
    return [
        _name(side.name),
        number(side.tries),
        Text(share(side.failed, side.tries), "bold red" if side.failed else ""),
        f"{number(side.retries)}/s",
        seconds(side.first_byte),
        f"{side.busy:.0f}/{side.busy + side.idle:.0f}",
        Text(side.breaker, _BREAKERS.get(side.breaker, "")),
    ]


def _name(name: str) -> Text:
    """A name as text, whatever signs of markup it holds."""
    return Text(printable(name), no_wrap=True, overflow="ellipsis")
