"""A sliding window over the counts of a target, from totals that only grow."""

from __future__ import annotations

import math
from typing import NamedTuple

from engine.upstream.health.outliers import Activity

_PARTS = 6
"""The number of steps in which the window moves."""
_SCALE = 1000


class Totals(NamedTuple):
    """The counts of all workers since their start. `logs` is the sum of `scaled_log` of the
    answers' times; `waiting` requests wait now."""

    answers: int
    failures: int
    logs: int
    waiting: int


def scaled_log(seconds: float) -> int:
    """The logarithm of a time as a number that counters can add; 0 for a microsecond or less."""
    return round(math.log(max(1.0, seconds * 1e6)) * _SCALE)


class Window:
    """The window of one target as one worker sees it, `seconds` long and up to a look longer. Times
    are those of a monotonic clock."""

    __slots__ = ("_last", "_quiet_since", "_samples", "_seconds")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._samples: tuple[tuple[float, Totals], ...] = ()
        self._last: Totals | None = None
        self._quiet_since = 0.0

    def restart(self) -> None:
        """Start an empty window."""
        self._samples = ()
        self._last = None

    def is_idle(self, answers: int, failures: int, waiting: int) -> bool:
        """Whether nothing waits, now and at the last call of `activity`, and no attempt ended since
        then."""
        last = self._last
        if last is None or last.waiting > 0 or waiting > 0:
            return False
        return answers == last.answers and failures == last.failures

    def activity(self, now: float, totals: Totals) -> Activity:
        """The counts within the window. Call it about once a second, unless `is_idle`."""
        last = self._last
        if last is not None and any(map(int.__lt__, totals[:3], last[:3])):
            self.restart()  # a worker ended: its counts are gone
            last = None
        waited = last is not None and last.waiting > 0 and totals.waiting > 0
        if last is None or not waited or totals[:2] != last[:2]:
            self._quiet_since = now
        self._last = totals
        samples = self._samples
        while samples and samples[0][0] < now - self._seconds:
            samples = samples[1:]
        if not samples or now - samples[-1][0] >= self._seconds / _PARTS:
            # What came since the last call is in the window.
            samples = (*samples, (now, last or totals))
        self._samples = samples
        base = samples[0][1]
        answers = totals.answers - base.answers
        logs = (totals.logs - base.logs) / _SCALE
        return Activity(
            answers,
            totals.failures - base.failures,
            math.exp(logs / answers) / 1e6 if answers else 0.0,
            totals.waiting,
            now - self._quiet_since,
        )
