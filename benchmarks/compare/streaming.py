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
        self._command = [*_COMMAND, *_arguments(endpoint), str(count), str(seconds), kind]
        self.longest = 0.0
        self._seen: list[tuple[float, int]] = []

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

    def events_between(self, begun: float, ended: float) -> float:
        """Events that arrived between two times of CLOCK_MONOTONIC. Raises StreamsFailed."""
        while not self._seen or self._seen[-1][0] < ended:
            self._line()
        return between(self._seen, begun, ended)

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line:
            _, said = self._process.communicate()
            raise StreamsFailed(said.strip()[-500:] or "the streams are over")
        name, _, value = line.partition(" ")
        if name == "longest":
            self.longest = float(value)
        elif name != "open":
            self._seen.append((float(name), int(value)))
        return line


def between(seen: Sequence[tuple[float, int]], begun: float, ended: float) -> float:
    """How much a counter grew between two times, of its values at some times, in order; between
    two of those it is taken to have grown evenly. ValueError for a time outside of them."""
    return _at(seen, ended) - _at(seen, begun)


def _at(seen: Sequence[tuple[float, int]], moment: float) -> float:
    after = bisect_left(seen, (moment, 0))
    if after == len(seen) or (after == 0 and seen[0][0] > moment):
        raise ValueError("that time was not seen")
    if after == 0:
        return seen[0][1]
    (t0, n0), (t1, n1) = seen[after - 1], seen[after]
    return n0 + (n1 - n0) * (moment - t0) / (t1 - t0)


def _arguments(endpoint: Endpoint) -> list[str]:
    return [str(endpoint.port), endpoint.path, endpoint.model, endpoint.tokens[0]]


def first_byte(endpoint: Endpoint, count: int = 200) -> float:
    """Median seconds to the first byte of a stream's first event, one stream at a time."""
    command = [*_COMMAND, *_arguments(endpoint), str(count), "first"]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise StreamsFailed(done.stderr.strip()[-500:])
    took: list[float] = json.loads(done.stdout)
    return statistics.median(took[len(took) // 10 :])
