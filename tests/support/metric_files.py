"""What is in the files of metrics."""

from __future__ import annotations

from prometheus_client.mmap_dict import MmapedDict

from engine.telemetry.metrics.storage.page import MetricsPage


def keys(file):
    """The keys in a file, in their order."""
    return [key for key, *_ in MmapedDict.read_all_values_from_file(str(file))]


def counted(folder, start):
    """The numbers of the page whose lines start so."""
    lines = MetricsPage().text(folder).decode().splitlines()
    return {
        name: float(value)
        for name, _, value in (line.rpartition(" ") for line in lines)
        if name.startswith(start)
    }


def fill_the_file(worker_numbers, metric):
    """Count series until a file has no room for another one; the number of the counted ones."""
    for number in range(10_000):
        labels = (f"model-{number}",)
        if metric.kind == "histogram":
            worker_numbers.observe(metric, labels, 0.7)
        else:
            worker_numbers.add(metric, labels, 1.0)
        if worker_numbers.file(metric).is_full:
            return number
    raise AssertionError("there is always room")
