"""A metric, and what a reading of one says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple


class Metric(NamedTuple):
    """`kind` is counter, gauge or histogram; `mode` is how a gauge of several workers adds up:
    `livesum`, `livemax` or `livemin` (workers that are gone do not count)."""

    name: str
    kind: str
    labels: tuple[str, ...]
    help: str
    buckets: tuple[float, ...] = ()
    mode: str = ""


Reading = tuple[Metric, tuple[str, ...], float]
"""A value of a metric that has to be asked for; of a counter, all that a worker has counted."""

Read = Callable[[], Iterable[Reading]]
