"""The deadlines of a worker that was told to stop: both lie within the grace of its master.

0            SIGTERM: no new connections, idle ones are closed after a second, requests go on
interrupt    requests that wait are answered with 503, streams get their error event
cut          what could not take that is cut; then rows and lines are flushed
grace        the master sends SIGKILL
"""

from __future__ import annotations

import signal
from typing import NamedTuple

SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGQUIT})
"""The signals that end a worker."""

LEAST_GRACE = 2
"""Seconds that a master gives at least, so that a worker can write down how its requests ended."""

_MARGIN = 2.0
_EACH = 0.001
"""Seconds that it takes to end a request: to tell its caller, and to write its row and its line."""


class ShutdownDeadlines(NamedTuple):
    """Seconds after SIGTERM."""

    interrupt: float
    cut: float


def deadlines(grace: float, connections: int = 0) -> ShutdownDeadlines:
    """The deadlines of a worker with so many connections, that its master kills after `grace`
    seconds."""
    margin = min(_MARGIN + connections * _EACH, grace / 2)
    return ShutdownDeadlines(grace - margin, grace - margin / 4)
