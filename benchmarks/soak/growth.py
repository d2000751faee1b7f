"""What samples of memory say."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple


class Sample(NamedTuple):
    """Bytes of each worker, by its process, `seconds` after the start and `requests` later."""

    seconds: float
    requests: int
    workers: dict[int, int]


def minutes(samples: Sequence[Sample]) -> list[Sample]:
    """One sample for each minute: the median of each worker; the last of time and requests."""
    found = []
    for minute in range(int(samples[-1].seconds // 60) + 1):
        those = [sample for sample in samples if sample.seconds // 60 == minute]
        if those:
            last = those[-1]
            alike = [sample for sample in those if sample.workers.keys() == last.workers.keys()]
            found.append(last._replace(workers={p: round(_of(alike, p)) for p in last.workers}))
    return found


def growth(samples: Sequence[Sample]) -> dict[int, int]:
    """Bytes by which each worker grew over the last half: its last quarter's median in that half
    less the first quarter's. Empty for fewer than four samples in that half."""
    half = samples[-1].seconds / 2
    late = [sample for sample in samples if sample.seconds >= half]
    quarter = len(late) // 4
    if not quarter:
        return {}
    return {
        pid: round(_of(late[-quarter:], pid) - _of(late[:quarter], pid))
        for pid in late[-1].workers
        if all(pid in sample.workers for sample in late)
    }


def after(samples: Sequence[Sample], requests: int) -> Sample | None:
    """The first sample after so many requests."""
    return next((sample for sample in samples if sample.requests >= requests), None)


def _of(samples: Sequence[Sample], pid: int) -> float:
    return statistics.median(sample.workers[pid] for sample in samples)
