"""Tables of text on standard output.

What goes to a file or another program is complete: one line for each row, without colour. On a
terminal long cells are wrapped between words.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import zip_longest

import click
from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len

from engine.cli.output import has_colour, is_terminal
from engine.source.excerpt import printable

_GAP = "  "


class Table(Struct, frozen=True):
    """Rows of texts below headings; the columns of numbers, named in `right`, end at the right."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: frozenset[str] = frozenset()

    def lines(self, width: int | None) -> Iterator[str]:
        """The lines of the headings and of each row, at most `width` cells wide (None: any).

        Words are not broken: a table whose longest words need more is wider.
        """
        widths = self._widths(width)
        is_right = [heading in self.right for heading in self.headings]
        for row in (self.headings, *self.rows):
            wrapped = [_wrap(cell, size) for cell, size in zip(row, widths, strict=True)]
            for cells in zip_longest(*wrapped, fillvalue=""):
                parts = map(_padded, cells, widths, is_right)
                yield _GAP.join(parts).rstrip()

    def _widths(self, width: int | None) -> list[int]:
        """The width of each column. The widest columns are narrowed first, none below its longest
        word."""
        columns = list(zip(self.headings, *self.rows, strict=True))
        widths = [max(map(cell_len, column)) for column in columns]
        if width is None:
            return widths
        least = [
            max((cell_len(word) for cell in column for word in cell.split()), default=0)
            for column in columns
        ]
        excess = sum(widths) + len(_GAP) * (len(widths) - 1) - width
        while excess > 0:
            shrinkable = [i for i, size in enumerate(widths) if size > least[i]]
            if not shrinkable:
                break
            widths[max(shrinkable, key=lambda i: widths[i])] -= 1
            excess -= 1
        return widths


def print_table(table: Table) -> None:
    """Print a table on standard output, its headings in bold on a terminal. Names that others have
    chosen do not control it."""
    table = replace(table, rows=[[*map(printable, row)] for row in table.rows])
    width = shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None
    first, *others = table.lines(width)
    click.echo("\n".join([click.style(first, bold=True), *others]), color=has_colour(sys.stdout))


def _wrap(text: str, width: int) -> list[str]:
    """The lines of a text, none wider than `width` unless a word is."""
    if cell_len(text) <= width:
        return [text]
    lines: list[str] = []
    for word in text.split():
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _padded(text: str, width: int, right: bool) -> str:
    blanks = " " * (width - cell_len(text))
    return blanks + text if right else text + blanks
