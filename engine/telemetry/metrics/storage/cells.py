"""Counting in files that all workers share: the files of prometheus_client's multiprocess mode.

A number is changed in the memory map of this worker's file. It is then in the kernel's page cache,
so that it survives the worker. Whoever changes a number often keeps its place: an int takes less
memory than an object, and a worker may have tens of thousands.

A gateway may have thousands of models and routes, so empty buckets are not stored. Only the first
series of a histogram has all its buckets, so that the files have the bounds.

Without room in the file system, numbers that have a place are counted, and others are not: they are
tried again after `retry`.

The metric classes of prometheus_client are not used: they take a lock and look up the labels for
each value. A key has the JSON of its `mmap_key`, which is ten times slower.
"""

from __future__ import annotations

import logging
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, cast

import orjson
from prometheus_client import utils

from engine.telemetry.metrics.storage.metric_file import UNCOUNTED, MetricFile, read_file
from engine.values.metric import Metric

Labels = tuple[str, ...]
"""The values of a metric's labels, in their order; or their names."""
_Sample = tuple[str, Labels, Labels]
"""The name of a sample, and the names and values of its labels."""

_format: Any = utils.floatToGoString

log = logging.getLogger("modelway")


class _Table:
    """The part that is common to the numbers of a metric: opening them in the file of its kind,
    which is opened with the first of them."""

    __slots__ = ("_cells", "_family", "_file", "_help", "_metric")
    _file: MetricFile

    def __init__(self, cells: Cells, metric: Metric) -> None:
        self._cells = cells
        self._metric = metric
        self._help = metric.help
        is_counter = metric.kind == "counter"
        self._family = metric.name.removesuffix("_total") if is_counter else metric.name

    def _open(self, *samples: _Sample) -> Sequence[int]:
        """The places of samples; none without room for all of them."""
        self._file = self._cells.file(self._metric)
        if self._file.is_full:
            return ()
        is_first, keys = True, []
        for sample in samples:
            keys.append(self._key(sample, self._help if is_first else ""))
            is_first = self._metric.kind == "gauge"
        try:
            places = self._file.open(keys)
        except OSError as error:
            self._cells.without_room(self._file, self._metric, error)
            return ()
        if not is_first:
            self._help = ""
        return places

    def _key(self, sample: _Sample, description: str) -> str:
        """The key of a sample. Of a counter or histogram only the first key has the help text, as
        equal series are added even if their help differs."""
        name, names, values = sample
        assert len(names) == len(values), (name, values)
        parts = [self._family, name, dict(zip(names, values, strict=True)), description]
        return orjson.dumps(parts, option=orjson.OPT_SORT_KEYS).decode()


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
        """The place of the number for these label values; UNCOUNTED without room; never 0."""
        place = self._places.get(labels)
        if place is None:
            for place in self._open((self._metric.name, self._metric.labels, labels)):
                self._places[labels] = place
                return place
            return UNCOUNTED
        return place

    def add(self, place: int, amount: float) -> None:
        """Add to the number at a place."""
        self._file.numbers[place] += amount

    def set(self, place: int, value: float) -> None:
        """Set the number at a place."""
        self._file.numbers[place] = value


class Histogram(_Table):
    """The numbers of a histogram. Those for a set of label values have a row of places: of the sum
    of the values, and of each bucket, 0 until something is counted in it. A value for whose bucket
    there is no room is not in the sum either."""

    __slots__ = ("_bounds", "_has_bounds", "_labels", "_names", "_places", "_rows")

    def __init__(self, cells: Cells, metric: Metric) -> None:
        super().__init__(cells, metric)
        self._names = (*metric.labels, "le")
        self._bounds = (*metric.buckets, float("inf"))
        self._has_bounds = False
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
        if place:
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
            if place:
                self._file.numbers[place] += count
            else:
                values = [each for each in values if bisect_left(self._bounds, each) != index]
        if values:
            self._file.numbers[places[row - 1]] += sum(values)

    def _add_row(self, labels: Labels) -> int:
        self._labels.append(labels)
        self._places.append(0)
        row = self._rows[labels] = len(self._places)
        self._places.extend([0] * len(self._bounds))
        return row

    def _open_bucket(self, row: int, index: int) -> int:
        """The place of a bucket, which is opened with what the row or the histogram lacks; 0
        without room."""
        bounds = range(len(self._bounds))
        indexes = [-1] if not self._places[row - 1] else []
        indexes += [index] if self._has_bounds else bounds
        labels = self._labels[row // (len(bounds) + 1)]
        for each, place in zip(indexes, self._open(*self._samples(labels, indexes)), strict=False):
            self._places[row + each] = place
            self._has_bounds = True
        return self._places[row + index]

    def _samples(self, labels: Labels, indexes: Sequence[int]) -> Iterator[_Sample]:
        """The samples of buckets, and of the sum for -1."""
        name = self._metric.name
        for index in indexes:
            if index < 0:
                yield f"{name}_sum", self._metric.labels, labels
            else:
                values = (*labels, _format(self._bounds[index]))
                yield f"{name}_bucket", self._names, values


class Cells:
    """The numbers of one worker, whose slot in `folder` is `number`."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder = folder
        self._number = number
        self._files: dict[str, MetricFile] = {}
        self._tables: dict[str, _Table] = {}
        self._is_logged = False

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
        for key, *_ in read_file(str(path)):
            _, sample, labels, _ = orjson.loads(key)
            if sample == metric.name:
                yield tuple(labels[name] for name in metric.labels)

    def file(self, metric: Metric) -> MetricFile:
        """The file of a metric's kind."""
        kind = f"gauge_{metric.mode}" if metric.kind == "gauge" else metric.kind
        file = self._files.get(kind)
        if file is None:
            file = self._files[kind] = MetricFile(self._path(kind))
        return file

    def without_room(self, file: MetricFile, metric: Metric, error: OSError) -> None:
        """Open nothing more in a file until `retry`; tell the operator once."""
        file.is_full = True
        if not self._is_logged:
            self._is_logged = True
            log.warning(
                "no room for metrics in %s (%s): new series are not counted in this worker until "
                "there is room, %s among them; the others are. Make room in this file system, or "
                "give it more (a container's /dev/shm: shm_size, an emptyDir's sizeLimit)",
                self._folder,
                error.strerror,
                metric.name,
            )

    def retry(self) -> bool:
        """Let series without room be opened again at their next value, if there were any; their
        places and rows have to be asked for again."""
        full = [file for file in self._files.values() if file.is_full]
        for file in full:
            file.is_full = False
        return bool(full)

    def close(self) -> None:
        """Close the files; nothing is counted after that."""
        while self._files:
            self._files.popitem()[1].close()

    def _path(self, kind: str) -> Path:
        return self._folder / f"{kind}_{self._number}.db"
