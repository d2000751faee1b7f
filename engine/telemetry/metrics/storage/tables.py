"""The numbers of a metric: where each is in a file, and adding to it.

A gateway may have thousands of models and routes, so empty buckets are not stored. Only the first
series of a histogram has all its buckets, so that the files have the bounds.

The metric classes of prometheus_client are not used: they take a lock and look up the labels for
each value. A key has the JSON of its `mmap_key`, which is ten times slower.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from itertools import repeat
from typing import Any, Protocol

import orjson
from prometheus_client import utils

from engine.telemetry.metrics.storage.metric_file import UNCOUNTED, MetricFile
from engine.values.metric import Metric

Labels = tuple[str, ...]
"""The values of a metric's labels, in their order; or their names."""
_Sample = tuple[str, Labels, Labels]
"""The name of a sample, and the names and values of its labels."""

_format: Any = utils.floatToGoString


class Files(Protocol):
    """The files of a worker (`worker_numbers.WorkerNumbers`)."""

    def file(self, metric: Metric, /) -> MetricFile:
        """The file of a metric's kind."""
        ...

    def without_room(self, file: MetricFile, metric: Metric, error: OSError, /) -> None:
        """A file has no room for a number of a metric."""


class Table:
    """The part that is common to the numbers of a metric: opening them in the file of its kind,
    which is opened with the first of them."""

    __slots__ = ("_family", "_file", "_files", "_help", "metric")
    _file: MetricFile

    def __init__(self, files: Files, metric: Metric) -> None:
        self._files = files
        self.metric = metric
        self._help = metric.help
        is_counter = metric.kind == "counter"
        self._family = metric.name.removesuffix("_total") if is_counter else metric.name

    def _open(self, *samples: _Sample) -> Sequence[int]:
        """The places of samples; none without room for all of them."""
        self._file = self._files.file(self.metric)
        if self._file.is_full:
            return ()
        is_first, keys = True, []
        for sample in samples:
            keys.append(self._key(sample, self._help if is_first else ""))
            is_first = self.metric.kind == "gauge"
        try:
            places = self._file.open(keys)
        except OSError as error:
            self._files.without_room(self._file, self.metric, error)
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


class Numbers(Table):
    """The numbers of a counter or gauge, one for each set of label values."""

    __slots__ = ("_places",)

    def __init__(self, files: Files, metric: Metric) -> None:
        super().__init__(files, metric)
        self._places: dict[Labels, int] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, labels: Labels) -> bool:
        return labels in self._places

    def place(self, labels: Labels) -> int:
        """The place of the number for these label values; UNCOUNTED without room; never 0."""
        place = self._places.get(labels)
        if place is None:
            for place in self._open((self.metric.name, self.metric.labels, labels)):
                self._places[labels] = place
                return place
            return UNCOUNTED
        return place

    def copy(self, file: MetricFile, places: Set[int]) -> dict[Labels, int]:
        """Copy the numbers at these places to another file of gauges, and return the places of the
        copies. Raises OSError without room."""
        former = {labels: place for labels, place in self._places.items() if place in places}
        name, names = self.metric.name, self.metric.labels
        copies = file.open([self._key((name, names, labels), self._help) for labels in former])
        for place, former_place in zip(copies, former.values(), strict=True):
            file.numbers[place] = self._file.numbers[former_place]
        return dict(zip(former, copies, strict=True))

    def move(self, file: MetricFile, places: dict[Labels, int]) -> None:
        """Use another file from now on, and these places in it."""
        self._file, self._places = file, places

    def add(self, place: int, amount: float) -> None:
        """Add to the number at a place."""
        self._file.numbers[place] += amount

    def set(self, place: int, value: float) -> None:
        """Set the number at a place."""
        self._file.numbers[place] = value


class Histogram(Table):
    """The numbers of a histogram. Those for a set of label values have a row of places: of the sum
    of the values, and of each bucket, 0 until something is counted in it. A value for whose bucket
    there is no room is not in the sum either."""

    __slots__ = ("_bounds", "_has_bounds", "_labels", "_names", "_places", "_rows")

    def __init__(self, files: Files, metric: Metric) -> None:
        super().__init__(files, metric)
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
        name = self.metric.name
        for index in indexes:
            if index < 0:
                yield f"{name}_sum", self.metric.labels, labels
            else:
                values = (*labels, _format(self._bounds[index]))
                yield f"{name}_bucket", self._names, values
