"""The deadlines of a worker that stops, all within the grace period of its master.

0            SIGTERM: no new connections, idle ones are closed after a second, requests go on
interrupt    waiting requests are answered with 503, streams get their error event
cut          requests that are still open are cut; then ledger and logs are flushed
grace        the master sends SIGKILL
"""

from __future__ import annotations

import signal
from typing import NamedTuple

SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGQUIT})
"""The signals that end a worker."""

LEAST_GRACE = 2
"""The shortest grace period in seconds: a worker needs it to record how its requests ended."""

_MARGIN = 2.0
_EACH = 0.001
"""Seconds to end one request: the response, the ledger entry and the log line."""


class ShutdownDeadlines(NamedTuple):
    """Seconds after SIGTERM."""

    interrupt: float
    cut: float


def deadlines(grace: float, connections: int = 0) -> ShutdownDeadlines:
    """The deadlines of a worker with so many connections. `grace` is in seconds."""
    margin = min(_MARGIN + connections * _EACH, grace / 2)
    return ShutdownDeadlines(grace - margin, grace - margin / 4)
