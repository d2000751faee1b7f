"""Counting in files that all workers map: prometheus_client's multiprocess mode, one write a count.

A cell is a number in this worker's file. It is with the kernel as soon as it is written, so killing
the worker loses nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from pathlib import Path
from struct import Struct
from typing import Any

from prometheus_client import mmap_dict, utils

from engine.telemetry.names import Metric

_put = Struct("d").pack_into
_File: Any = mmap_dict.MmapedDict
_written: Any = utils.floatToGoString


class Cell:
    """One number: eight bytes of the file."""

    __slots__ = ("_at", "_file", "value")

    def __init__(self, file: Any, key: str) -> None:
        self.value: float = file.read_value(key)[0]
        self._at: int = file._positions[key]
        self._file = file  # which maps another piece of memory when it grows

    def add(self, amount: float = 1.0) -> None:
        self.value = value = self.value + amount
        _put(self._file._m, self._at, value)

    def set(self, value: float) -> None:
        if value != self.value:
            self.value = value
            _put(self._file._m, self._at, value)


class Distribution:
    """A histogram's numbers for one set of labels."""

    __slots__ = ("_bounds", "_cells", "_sum")

    def __init__(self, bounds: tuple[float, ...], cells: list[Cell], total: Cell) -> None:
        self._bounds = bounds
        self._cells = cells
        self._sum = total

    def observe(self, value: float) -> None:
        # Written out: every exchange is observed several times.
        cell, total = self._cells[bisect_left(self._bounds, value)], self._sum
        cell.value = count = cell.value + 1.0
        total.value = whole = total.value + value
        memory = cell._file._m
        _put(memory, cell._at, count)
        _put(memory, total._at, whole)


class Cells:
    """The numbers of one worker, whose slot in `folder` is `number`."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder = folder
        self._number = number
        self._files: dict[str, Any] = {}

    def cell(self, metric: Metric, *labels: str) -> Cell:
        """The cell of a counter or gauge for these values of its labels."""
        kind = metric.kind if metric.kind == "counter" else f"gauge_{metric.mode}"
        family = metric.name.removesuffix("_total") if metric.kind == "counter" else metric.name
        return self._cell(kind, metric, family, metric.name, metric.labels, labels)

    def distribution(self, metric: Metric, *labels: str) -> Distribution:
        """The buckets of a histogram for these values of its labels."""
        name, names = metric.name, metric.labels
        bounds = (*metric.buckets, float("inf"))
        cells = [
            self._cell(
                "histogram",
                metric,
                name,
                f"{name}_bucket",
                (*names, "le"),
                (*labels, _written(bound)),
            )
            for bound in bounds
        ]
        total = self._cell("histogram", metric, name, f"{name}_sum", names, labels)
        return Distribution(bounds, cells, total)

    def close(self) -> None:
        while self._files:
            self._files.popitem()[1].close()

    def _cell(
        self,
        kind: str,
        metric: Metric,
        family: str,
        sample: str,
        names: tuple[str, ...],
        values: tuple[str, ...],
    ) -> Cell:
        assert len(names) == len(values), (metric.name, values)
        file = self._files.get(kind)
        if file is None:
            path = self._folder / f"{kind}_{self._number}.db"
            file = self._files[kind] = _File(str(path))
        return Cell(
            file, mmap_dict.mmap_key(family, sample, list(names), list(values), metric.help)
        )
