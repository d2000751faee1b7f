"""Counting in files that all workers share: the files of prometheus_client's multiprocess mode.

A number is changed in the memory map of this worker's file. It is then in the kernel's page cache,
so that it survives the worker. Whoever changes a number often keeps its place: an int takes less
memory than an object, and a worker may have tens of thousands.

Without room in the file system, numbers that have a place are counted, and others are not: they are
tried again after `retry`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import cast

import orjson

from engine.telemetry.metrics.storage.metric_file import MetricFile, read_file
from engine.telemetry.metrics.storage.tables import Histogram, Labels, Numbers, Table
from engine.values.metric import Metric

log = logging.getLogger("modelway")


class WorkerNumbers:
    """The numbers of one worker, whose slot in `folder` is `number`."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder = folder
        self._number = number
        self._files: dict[str, MetricFile] = {}
        self._tables: dict[str, Table] = {}
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
        kind = _kind(metric)
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

    def keep_gauges(self, places: Mapping[Numbers, Set[int]]) -> None:
        """Remove the gauges at other places than these of each metric. Their files are replaced by
        others without them; without room they stay until `retry`."""
        gauges: dict[str, list[Numbers]] = {}
        for table in self._tables.values():
            if table.metric.kind == "gauge" and isinstance(table, Numbers) and len(table):
                gauges.setdefault(_kind(table.metric), []).append(table)
        for kind, tables in gauges.items():
            fewer = any(len(places.get(table, ())) < len(table) for table in tables)
            if fewer and not self._files[kind].is_full:
                self._replace(kind, {table: places.get(table, frozenset()) for table in tables})

    def _replace(self, kind: str, places: Mapping[Numbers, Set[int]]) -> None:
        """Replace a file of gauges by one with the numbers at these places."""
        former, path = self._files[kind], self._path(kind)
        new = path.with_suffix(".new")
        new.unlink(missing_ok=True)  # of a worker that was killed
        file = MetricFile(new)
        try:
            copies = {table: table.copy(file, places[table]) for table in places}
            file.move(path)
        except OSError as error:
            file.close()
            new.unlink(missing_ok=True)
            self.without_room(former, next(iter(places)).metric, error)
            return
        for table in copies:
            table.move(file, copies[table])
        self._files[kind] = file
        former.close()

    def close(self) -> None:
        """Close the files; nothing is counted after that."""
        while self._files:
            self._files.popitem()[1].close()

    def _path(self, kind: str) -> Path:
        return self._folder / f"{kind}_{self._number}.db"


def _kind(metric: Metric) -> str:
    """The kind of a metric, which is in the name of its file."""
    return f"gauge_{metric.mode}" if metric.kind == "gauge" else metric.kind
