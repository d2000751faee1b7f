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
    means = []
    for minute in range(int(samples[-1].seconds // 60) + 1):
        samples_of_minute = [sample for sample in samples if sample.seconds // 60 == minute]
        if samples_of_minute:
            last = samples_of_minute[-1]
            same_workers = [
                sample
                for sample in samples_of_minute
                if sample.workers.keys() == last.workers.keys()
            ]
            means.append(
                last._replace(workers={p: round(_of(same_workers, p)) for p in last.workers})
            )
    return means


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
