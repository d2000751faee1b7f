"""Counting in files that all workers map: prometheus_client's multiprocess mode, one write a count.

A cell is a number in this worker's file. It is with the kernel as soon as it is written, so killing
the worker loses nothing. When a file grows, it is mapped once more, and the first cells go on
writing where they did: it is the same memory.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from ctypes import c_double
from pathlib import Path
from typing import Any

from prometheus_client import mmap_dict, utils

from engine.values.metric import Metric

_File: Any = mmap_dict.MmapedDict
_written: Any = utils.floatToGoString


class Cell:
    """One number: eight bytes of the file."""

    __slots__ = ("number",)

    def __init__(self, file: Any, key: str) -> None:
        file.read_value(key)  # which makes it
        self.number = c_double.from_buffer(file._m, file._positions[key])

    @property
    def value(self) -> float:
        return self.number.value

    def add(self, amount: float = 1.0) -> None:
        self.number.value += amount

    def set(self, value: float) -> None:
        self.number.value = value


class Distribution:
    """A histogram's numbers for one set of labels."""

    __slots__ = ("_bounds", "_numbers", "_sum")

    def __init__(self, bounds: tuple[float, ...], cells: list[Cell], total: Cell) -> None:
        self._bounds = bounds
        self._numbers = [cell.number for cell in cells]
        self._sum = total.number

    def tally(self, values: Sequence[float]) -> tuple[Mapping[int, int], float]:
        """What to `add` for these values: how many in which bucket, and their sum."""
        bounds = self._bounds
        return Counter([bisect_left(bounds, value) for value in values]), sum(values)

    def add(self, tally: tuple[Mapping[int, int], float]) -> None:
        """Write a tally. That is what costs most: it is done once for many values."""
        buckets, total = tally
        for at, count in buckets.items():
            self._numbers[at].value += count
        self._sum.value += total


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
        """No more cells are made; the memory goes when the last of them does."""
        while self._files:
            self._files.popitem()[1]._f.close()

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
