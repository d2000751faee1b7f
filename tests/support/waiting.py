"""Waiting for a condition in a test."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 50.0
"""Seconds until a condition that does not hold is a failure. Long, as other programs may take all
processors; shorter than the default timeouts of upstreams, which must not be what fulfils it. On a
busy machine they are not: where a timeout would fulfil it, let the test's config have 10m."""


def under_load(seconds: float = PATIENCE) -> float:
    """`seconds` of a machine at rest: as many times longer as programs wait for each processor."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


class Deadline:
    """`seconds` of a machine at rest from now on."""

    def __init__(self, seconds: float = PATIENCE) -> None:
        self._start = time.monotonic()
        self._seconds = seconds

    def passed(self) -> bool:
        waited = time.monotonic() - self._start
        return waited > self._seconds and waited > under_load(self._seconds)


def until(
    condition: Callable[[], Any],
    what: str = "the condition",
    patience: float = PATIENCE,
    *,
    sleep: Callable[[float], object] = time.sleep,
) -> Any:
    """Wait for a true result, and return it. `sleep` is gevent's where greenlets must run.

    AssertionError after `patience` seconds of a machine at rest.
    """
    deadline = Deadline(patience)
    while not (result := condition()):
        assert not deadline.passed(), f"not in {patience} s: {what}"
        sleep(0.01)
    return result
