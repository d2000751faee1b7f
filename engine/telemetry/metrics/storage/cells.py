"""Counting in files that all workers share: the files of prometheus_client's multiprocess mode.

A cell is a number in this worker's file. It is in the kernel's page cache as soon as it is written,
so that killing the worker loses nothing more. A number that several requests of a batch change is
written once.

A gateway may have thousands of models and routes: a series costs what was counted in it. The first
series of a histogram has all its buckets, so that the files have the bounds; every other one has
those in which something was counted.

The files are written and read by `prometheus_client.mmap_dict.MmapedDict`: the metric classes of
prometheus_client take a lock and look the labels up for each value. A key is the JSON of its
`mmap_key`, which takes ten times as long to write it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from typing import Any

import orjson
from prometheus_client import mmap_dict, utils

from engine.values.metric import Metric

_File: Any = mmap_dict.MmapedDict
_format: Any = utils.floatToGoString


class Cell:
    """One number of a worker's file. `changed` are the cells that `Cells.write` is to write."""

    __slots__ = ("_changed", "_key", "_write", "value")

    def __init__(self, file: Any, key: str, changed: set[Cell]) -> None:
        self._write = file.write_value
        self._key = key
        self._changed = changed
        self.value: float = file.read_value(key)[0]

    def add(self, amount: float) -> None:
        self.value += amount
        self._changed.add(self)

    def set(self, value: float) -> None:
        if value != self.value:
            self.value = value
            self._changed.add(self)

    def write(self) -> None:
        """Write the number to the file."""
        self._write(self._key, self.value, 0.0)


class _Buckets(dict[int, Cell]):
    """The buckets of one series by their index, opened when something is counted in them."""

    __slots__ = ("_open",)

    def __init__(self, open_bucket: Callable[[int], Cell]) -> None:
        self._open = open_bucket

    def __missing__(self, index: int) -> Cell:
        bucket = self[index] = self._open(index)
        return bucket


class Distribution:
    """The numbers of a histogram for one set of labels."""

    __slots__ = ("_bounds", "_buckets", "_sum")

    def __init__(self, bounds: tuple[float, ...], buckets: _Buckets, total: Cell) -> None:
        self._bounds = bounds
        self._buckets = buckets
        self._sum = total

    def observe(self, *values: float) -> None:
        """Count each value in its bucket, and add it to the sum."""
        if not values:
            return
        indexes = map(bisect_left, repeat(self._bounds), values)
        for index, count in Counter(indexes).items():
            self._buckets[index].add(count)
        self._sum.add(sum(values))


class Cells:
    """The numbers of one worker, whose slot in `folder` is `number`."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder = folder
        self._number = number
        self._files: dict[str, Any] = {}
        self._changed: set[Cell] = set()
        self._cells: dict[tuple[str, ...], Cell] = {}
        self._distributions: dict[tuple[str, ...], Distribution] = {}
        self._histograms: set[str] = set()

    def cell(self, metric: Metric, *labels: str) -> Cell:
        """The cell of a counter or gauge for these label values."""
        key = (metric.name, *labels)
        cell = self._cells.get(key)
        if cell is None:
            kind = metric.kind if metric.kind == "counter" else f"gauge_{metric.mode}"
            family = metric.name.removesuffix("_total") if kind == "counter" else metric.name
            cell = self._open(kind, metric, family, metric.name, metric.labels, labels)
            self._cells[key] = cell
        return cell

    def distribution(self, metric: Metric, *labels: str) -> Distribution:
        """The buckets of a histogram for these label values."""
        key = (metric.name, *labels)
        distribution = self._distributions.get(key)
        if distribution is None:
            distribution = self._distributions[key] = self._histogram(metric, labels)
        return distribution

    def write(self) -> None:
        """Write the numbers that have changed since the last call."""
        for cell in self._changed:
            cell.write()
        self._changed.clear()

    def close(self) -> None:
        """Write the last numbers and close the files; nothing is written after that."""
        self.write()
        while self._files:
            self._files.popitem()[1].close()

    def _histogram(self, metric: Metric, labels: tuple[str, ...]) -> Distribution:
        name, names = metric.name, metric.labels
        bounds = (*metric.buckets, float("inf"))
        bucket, bucket_names = f"{name}_bucket", (*names, "le")

        def open_bucket(index: int) -> Cell:
            values = (*labels, _format(bounds[index]))
            return self._open("histogram", metric, name, bucket, bucket_names, values)

        buckets = _Buckets(open_bucket)
        if name not in self._histograms:
            self._histograms.add(name)
            for index in range(len(bounds)):
                buckets[index] = open_bucket(index)
        total = self._open("histogram", metric, name, f"{name}_sum", names, labels)
        return Distribution(bounds, buckets, total)

    def _open(
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
        parts = [family, sample, dict(zip(names, values, strict=True)), metric.help]
        key = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS).decode()
        return Cell(file, key, self._changed)
