"""Streams taken by callers in another process, seen from here."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.compare.system import Endpoint

_ROOT = Path(__file__).resolve().parents[2]
_COMMAND = [sys.executable, "-m", "benchmarks.compare.callers"]


class StreamsFailed(Exception):
    """A stream was refused or cut."""


class Streams:
    """`count` streams of a `kind` through a system, begun over `seconds`; cut with the block."""

    def __init__(self, endpoint: Endpoint, count: int, seconds: float, kind: str) -> None:
        self._command = [*_COMMAND, endpoint.to_json(), str(count), str(seconds), kind]
        self.longest = 0.0
        self._samples: list[tuple[float, int]] = []

    def __enter__(self) -> Streams:
        self._process = subprocess.Popen(
            self._command, cwd=_ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: Any) -> None:
        self._process.kill()
        self._process.communicate()

    def all_open(self) -> None:
        """Wait until each has had its first event. Raises StreamsFailed."""
        while self._line() != "open":
            pass

    def finish(self) -> None:
        """Wait for the end of all. Raises StreamsFailed."""
        while not self._line().startswith("longest"):
            pass

    def events_between(self, start: float, end: float) -> float:
        """Events that arrived between two times of CLOCK_MONOTONIC. Raises StreamsFailed."""
        while not self._samples or self._samples[-1][0] < end:
            self._line()
        return between(self._samples, start, end)

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line:
            _, error_output = self._process.communicate()
            raise StreamsFailed(error_output.strip()[-500:] or "the streams are over")
        name, _, value = line.partition(" ")
        if name == "longest":
            self.longest = float(value)
        elif name != "open":
            self._samples.append((float(name), int(value)))
        return line


def between(samples: Sequence[tuple[float, int]], start: float, end: float) -> float:
    """How much a counter grew between two times, of its values at some times, in order; between
    two of those it is taken to have grown evenly. ValueError for a time outside of them."""
    return _at(samples, end) - _at(samples, start)


def _at(samples: Sequence[tuple[float, int]], moment: float) -> float:
    after = bisect_left(samples, (moment, 0))
    if after == len(samples) or (after == 0 and samples[0][0] > moment):
        raise ValueError("that time was not seen")
    if after == 0:
        return samples[0][1]
    (t0, n0), (t1, n1) = samples[after - 1], samples[after]
    return n0 + (n1 - n0) * (moment - t0) / (t1 - t0)


def first_byte(endpoint: Endpoint, count: int = 200) -> float:
    """Median seconds to the first byte of a stream's first event, one stream at a time."""
    command = [*_COMMAND, endpoint.to_json(), str(count), "first"]
    process = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    if process.returncode:
        raise StreamsFailed(process.stderr.strip()[-500:])
    durations: list[float] = json.loads(process.stdout)
    return statistics.median(durations[len(durations) // 10 :])
