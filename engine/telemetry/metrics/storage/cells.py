"""Counting in files that all workers share: the files of prometheus_client's multiprocess mode.

A number is changed in the memory map of this worker's file. It is then in the kernel's page cache,
so that it survives the worker. Whoever changes a number often keeps its place: an int takes less
memory than an object, and a worker may have tens of thousands.

A gateway may have thousands of models and routes, so empty buckets are not stored. Only the first
series of a histogram has all its buckets, so that the files have the bounds.

The files are opened, grown and read by `prometheus_client.mmap_dict.MmapedDict`. The metric classes
of prometheus_client are not used: they take a lock and look up the labels for each value. A key has
the JSON of its `mmap_key`, which is ten times slower.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, cast

import orjson
from prometheus_client import mmap_dict, utils

from engine.values.metric import Metric

Labels = tuple[str, ...]
"""The values of a metric's labels, in their order; or their names."""

_MmapedDict: Any = mmap_dict.MmapedDict
_format: Any = utils.floatToGoString


class _File(_MmapedDict):  # type: ignore[misc]
    """A file of numbers. `numbers` are its 8-byte words: that of a key is at its place."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.numbers = memoryview(self._m).cast("d")

    def open(self, key: str) -> int:
        """The place of a key, which is added if it is new. A key is opened once and then forgotten:
        it takes more memory than everything else that a worker has of its number."""
        if key not in self._positions:
            self._init_value(key)
            if self._m is not self.numbers.obj:  # the file has grown
                self.numbers = memoryview(self._m).cast("d")
        place: int = self._positions.pop(key) // 8
        return place

    def close(self) -> None:
        self.numbers.release()
        super().close()


class _Table:
    """The part that is common to the numbers of a metric: opening them in the file of its kind,
    which is opened with the first of them."""

    __slots__ = ("_cells", "_family", "_file", "_help", "_metric")
    _file: _File

    def __init__(self, cells: Cells, metric: Metric) -> None:
        self._cells = cells
        self._metric = metric
        self._help = metric.help
        is_counter = metric.kind == "counter"
        self._family = metric.name.removesuffix("_total") if is_counter else metric.name

    def _open(self, sample: str, names: Labels, values: Labels) -> int:
        """The place of a number. Of a counter or histogram only the first key has the help text, as
        equal series are added even if their help differs."""
        assert len(names) == len(values), (self._metric.name, values)
        self._file = self._cells.file(self._metric)
        parts = [self._family, sample, dict(zip(names, values, strict=True)), self._help]
        if self._metric.kind != "gauge":
            self._help = ""
        return self._file.open(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS).decode())


class Numbers(_Table):
    """The numbers of a counter or gauge, one for each set of label values."""

    __slots__ = ("_places",)

    def __init__(self, cells: Cells, metric: Metric) -> None:
        super().__init__(cells, metric)
        self._places: dict[Labels, int] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, labels: Labels) -> bool:
        return labels in self._places

    def place(self, labels: Labels) -> int:
        """The place of the number for these label values; it is never 0."""
        place = self._places.get(labels)
        if place is None:
            place = self._open(self._metric.name, self._metric.labels, labels)
            self._places[labels] = place
        return place

    def add(self, place: int, amount: float) -> None:
        """Add to the number at a place."""
        self._file.numbers[place] += amount

    def set(self, place: int, value: float) -> None:
        """Set the number at a place."""
        self._file.numbers[place] = value


class Histogram(_Table):
    """The numbers of a histogram. Those for a set of label values have a row of places: of the sum
    of the values, and of each bucket, 0 until something is counted in it."""

    __slots__ = ("_bounds", "_labels", "_names", "_places", "_rows")

    def __init__(self, cells: Cells, metric: Metric) -> None:
        super().__init__(cells, metric)
        self._names = (*metric.labels, "le")
        self._bounds = (*metric.buckets, float("inf"))
        self._places = array("i")
        self._labels: list[Labels] = []
        self._rows: dict[Labels, int] = {}

    def row(self, labels: Labels) -> int:
        """The row for these label values: the index of the place of its first bucket, which follows
        that of the sum. It is never 0."""
        row = self._rows.get(labels)
        return self._add_row(labels) if row is None else row

    def observe(self, row: int, value: float) -> None:
        """Count a value in its bucket, and add it to the sum."""
        places = self._places
        index = bisect_left(self._bounds, value)
        place = places[row + index] or self._open_bucket(row, index)
        numbers = self._file.numbers
        numbers[place] += 1.0
        numbers[places[row - 1]] += value

    def observe_all(self, row: int, values: Sequence[float]) -> None:
        """Count several values, each bucket once."""
        if len(values) == 1:
            self.observe(row, values[0])
            return
        places = self._places
        indexes = map(bisect_left, repeat(self._bounds), values)
        for index, count in Counter(indexes).items():
            place = places[row + index] or self._open_bucket(row, index)
            self._file.numbers[place] += count
        self._file.numbers[places[row - 1]] += sum(values)

    def _add_row(self, labels: Labels) -> int:
        total = self._open(f"{self._metric.name}_sum", self._metric.labels, labels)
        self._labels.append(labels)
        self._places.append(total)
        row = self._rows[labels] = len(self._places)
        self._places.extend([0] * len(self._bounds))
        if row == 1:
            for index in range(len(self._bounds)):
                self._open_bucket(row, index)
        return row

    def _open_bucket(self, row: int, index: int) -> int:
        labels = self._labels[row // (len(self._bounds) + 1)]
        values = (*labels, _format(self._bounds[index]))
        place = self._open(f"{self._metric.name}_bucket", self._names, values)
        self._places[row + index] = place
        return place


class Cells:
    """The numbers of one worker, whose slot in `folder` is `number`."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder = folder
        self._number = number
        self._files: dict[str, _File] = {}
        self._tables: dict[str, _Table] = {}

    def numbers(self, metric: Metric) -> Numbers:
        """The numbers of a counter or gauge."""
        table = self._tables.get(metric.name)
        if table is None:
            table = self._tables[metric.name] = Numbers(self, metric)
        return cast(Numbers, table)

    def histogram(self, metric: Metric) -> Histogram:
        """The numbers of a histogram."""
        table = self._tables.get(metric.name)
        if table is None:
            table = self._tables[metric.name] = Histogram(self, metric)
        return cast(Histogram, table)

    def add(self, metric: Metric, labels: Labels, amount: float) -> None:
        """Add to a number of a counter that is changed seldom."""
        numbers = self.numbers(metric)
        numbers.add(numbers.place(labels), amount)

    def observe(self, metric: Metric, labels: Labels, value: float) -> None:
        """Count a value in a histogram that is changed seldom."""
        histogram = self.histogram(metric)
        histogram.observe(histogram.row(labels), value)

    def label_values(self, metric: Metric) -> Iterator[Labels]:
        """The label values of a counter in the file that an earlier worker has left."""
        path = self._path("counter")
        if not path.exists() or not path.stat().st_size:
            return
        for key, *_ in _MmapedDict.read_all_values_from_file(str(path)):
            _, sample, labels, _ = orjson.loads(key)
            if sample == metric.name:
                yield tuple(labels[name] for name in metric.labels)

    def file(self, metric: Metric) -> _File:
        """The file of a metric's kind."""
        kind = f"gauge_{metric.mode}" if metric.kind == "gauge" else metric.kind
        file = self._files.get(kind)
        if file is None:
            file = self._files[kind] = _File(self._path(kind))
        return file

    def close(self) -> None:
        """Close the files; nothing is counted after that."""
        while self._files:
            self._files.popitem()[1].close()

    def _path(self, kind: str) -> Path:
        return self._folder / f"{kind}_{self._number}.db"
