"""Counting in files that all workers share: the files of prometheus_client's multiprocess mode.

A cell is a number in this worker's file. Once written it is in the kernel's page cache, so that it
survives the worker. A number that several requests of a batch change is written once.

A gateway may have thousands of models and routes, so empty buckets are not stored. Only the first
series of a histogram has all its buckets, so that the files have the bounds.

The files are written and read by `prometheus_client.mmap_dict.MmapedDict`. The metric classes of
prometheus_client are not used: they take a lock and look up the labels for each value. A key has
the JSON of its `mmap_key`, which is ten times slower.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from struct import Struct
from typing import Any

import orjson
from prometheus_client import mmap_dict, utils

from engine.values.metric import Metric

_MmapedDict: Any = mmap_dict.MmapedDict
_format: Any = utils.floatToGoString
_write_double = Struct("d").pack_into


class _File(_MmapedDict):  # type: ignore[misc]
    """A file of numbers, which are written at their positions: looking up a key each time would
    take twice as long."""

    def open(self, key: str) -> tuple[int, float]:
        """The position and the number of a key, which is added if it is new."""
        value: float = self.read_value(key)[0]
        return self._positions[key], value

    def write(self, position: int, value: float) -> None:
        """Write a number at its position."""
        _write_double(self._m, position, value)  # which is another map when the file has grown


class Cell:
    """One number of a worker's file. `changed` are the cells that `Cells.write` has to write."""

    __slots__ = ("_changed", "_position", "_write", "value")

    def __init__(self, file: _File, key: str, changed: set[Cell]) -> None:
        self._write = file.write
        self._changed = changed
        self._position, self.value = file.open(key)

    def add(self, amount: float) -> None:
        self.value += amount
        self._changed.add(self)

    def set(self, value: float) -> None:
        if value != self.value:
            self.value = value
            self._changed.add(self)

    def write(self) -> None:
        """Write the number to the file."""
        self._write(self._position, self.value)


class _Histogram:
    """The part that all series of a histogram share: its `bounds`, and opening its numbers."""

    __slots__ = ("_cells", "_metric", "_names", "bounds")

    def __init__(self, cells: Cells, metric: Metric) -> None:
        self._cells = cells
        self._metric = metric
        self._names = (*metric.labels, "le")
        self.bounds = (*metric.buckets, float("inf"))

    def bucket(self, labels: tuple[str, ...], index: int) -> Cell:
        """The number of a bucket."""
        values = (*labels, _format(self.bounds[index]))
        return self._open("_bucket", self._names, values)

    def sum(self, labels: tuple[str, ...]) -> Cell:
        """The sum of the values."""
        return self._open("_sum", self._metric.labels, labels)

    def _open(self, suffix: str, names: tuple[str, ...], values: tuple[str, ...]) -> Cell:
        name = self._metric.name
        return self._cells.open("histogram", self._metric, name, name + suffix, names, values)


class Distribution:
    """The numbers of a histogram for one set of labels. A bucket is opened when something is
    counted in it."""

    __slots__ = ("_buckets", "_histogram", "_labels", "_sum")

    def __init__(self, histogram: _Histogram, labels: tuple[str, ...]) -> None:
        self._histogram = histogram
        self._labels = labels
        self._buckets: dict[int, Cell] = {}
        self._sum = histogram.sum(labels)

    def observe(self, *values: float) -> None:
        """Count each value in its bucket, and add it to the sum."""
        if not values:
            return
        indexes = map(bisect_left, repeat(self._histogram.bounds), values)
        for index, count in Counter(indexes).items():
            (self._buckets.get(index) or self.open(index)).add(count)
        self._sum.add(sum(values))

    def open(self, index: int) -> Cell:
        """Open a bucket."""
        bucket = self._buckets[index] = self._histogram.bucket(self._labels, index)
        return bucket


class Cells:
    """The numbers of one worker, whose slot in `folder` is `number`."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder = folder
        self._number = number
        self._files: dict[str, _File] = {}
        self._changed: set[Cell] = set()
        self._cells: dict[tuple[str, ...], Cell] = {}
        self._counts: Counter[str] = Counter()
        self._distributions: dict[tuple[str, ...], Distribution] = {}
        self._histograms: dict[str, _Histogram] = {}
        self._helped: set[str] = set()

    def cell(self, metric: Metric, *labels: str) -> Cell:
        """The cell of a counter or gauge for these label values."""
        key = (metric.name, *labels)
        cell = self._cells.get(key)
        if cell is None:
            kind = metric.kind if metric.kind == "counter" else f"gauge_{metric.mode}"
            family = metric.name.removesuffix("_total") if kind == "counter" else metric.name
            cell = self.open(kind, metric, family, metric.name, metric.labels, labels)
            self._cells[key] = cell
            self._counts[metric.name] += 1
        return cell

    def has(self, metric: Metric, *labels: str) -> bool:
        """Whether a counter or gauge has a cell for these label values."""
        return (metric.name, *labels) in self._cells

    def count(self, metric: Metric) -> int:
        """How many cells a counter or gauge has."""
        return self._counts[metric.name]

    def label_values(self, metric: Metric) -> Iterator[tuple[str, ...]]:
        """The label values of a counter in the file that an earlier worker has left."""
        path = self._path("counter")
        if not path.exists() or not path.stat().st_size:
            return
        for key, *_ in _MmapedDict.read_all_values_from_file(str(path)):
            _, sample, labels, _ = orjson.loads(key)
            if sample == metric.name:
                yield tuple(labels[name] for name in metric.labels)

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
        histogram = self._histograms.get(metric.name)
        if histogram is not None:
            return Distribution(histogram, labels)
        histogram = self._histograms[metric.name] = _Histogram(self, metric)
        first = Distribution(histogram, labels)
        for index in range(len(histogram.bounds)):
            first.open(index)
        return first

    def _path(self, kind: str) -> Path:
        return self._folder / f"{kind}_{self._number}.db"

    def open(
        self,
        kind: str,
        metric: Metric,
        family: str,
        sample: str,
        names: tuple[str, ...],
        values: tuple[str, ...],
    ) -> Cell:
        """A number in the file of its kind. Of a counter or histogram only the first key has the
        help text, as equal series are added even if their help differs."""
        assert len(names) == len(values), (metric.name, values)
        file = self._files.get(kind)
        if file is None:
            file = self._files[kind] = _File(str(self._path(kind)))
        description = "" if family in self._helped else metric.help
        if metric.kind != "gauge":
            self._helped.add(family)
        parts = [family, sample, dict(zip(names, values, strict=True)), description]
        key = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS).decode()
        return Cell(file, key, self._changed)
