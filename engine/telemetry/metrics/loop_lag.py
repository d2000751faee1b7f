"""How late a worker's event loop is: how long all of its requests wait for one that computes."""

from __future__ import annotations

import time
from collections.abc import Callable

import gevent

from engine.telemetry.metrics.storage.cells import Cells
from engine.values.metric import histogram

_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)
INTERVAL = 0.1
"""Seconds between two observations."""

LAG = histogram(
    "modelway_loop_lag_seconds",
    "",
    "How late the event loop of a worker runs what is due; ten observations a second.",
    _SECONDS,
)


def watch_loop(
    cells: Cells,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = gevent.sleep,
) -> None:
    """Observe the lag until the greenlet is killed."""
    while True:
        due = clock() + INTERVAL
        sleep(INTERVAL)
        cells.observe(LAG, (), max(0.0, clock() - due))
