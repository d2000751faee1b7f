"""The definition of a metric, and a sample of one that is collected at intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple


class Metric(NamedTuple):
    """`kind` is counter, gauge or histogram; `mode` is how the gauges of several workers are
    joined: `livesum`, `livemax` or `livemin` (workers that ended do not count). `is_fault`: of a
    gauge, a value other than 0 says that its subject is not well, and is recorded also where there
    is no room for more series."""

    name: str
    kind: str
    labels: tuple[str, ...]
    help: str
    buckets: tuple[float, ...] = ()
    mode: str = ""
    is_fault: bool = False


Sample = tuple[Metric, tuple[str, ...], float]
"""A metric, the values of its labels, and its value; of a counter, the total of this worker."""

Collector = Callable[[], Iterable[Sample]]
"""Returns the present samples of some metrics. Requests may run between two of them."""


def counter(name: str, labels: str, help: str) -> Metric:  # noqa: A002 - Prometheus's word
    """A counter; `labels` are separated by spaces."""
    return Metric(name, "counter", tuple(labels.split()), help)


def gauge(
    name: str,
    labels: str,
    help: str,  # noqa: A002
    mode: str = "livesum",
    *,
    is_fault: bool = False,
) -> Metric:
    """A gauge; `labels` are separated by spaces."""
    return Metric(name, "gauge", tuple(labels.split()), help, mode=mode, is_fault=is_fault)


def histogram(name: str, labels: str, help: str, buckets: tuple[float, ...]) -> Metric:  # noqa: A002
    """A histogram with these upper bounds; `labels` are separated by spaces."""
    return Metric(name, "histogram", tuple(labels.split()), help, buckets)


def target_label(parts: Iterable[str]) -> str:
    """The label `target` of a target: its entry under `models`, its name for the model and its
    address, those of them that it has."""
    return "/".join(filter(None, parts))
