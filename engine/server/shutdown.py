"""The deadlines of a worker that stops, all within the grace period of its master.

0            SIGTERM: readiness is false, each response says `Connection: close`
delay        no new connections, idle ones are closed after a second, requests go on. A worker with
             a successor, as on a reload, has no delay
interrupt    waiting requests are answered with 503, streams get their error event
cut          requests that are still open are cut; then ledger and logs are flushed
grace        the master sends SIGKILL
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

_URGENCY: dict[int, int] = {signal.SIGQUIT: 0, signal.SIGINT: 1, signal.SIGTERM: 2}

SIGNALS = frozenset(_URGENCY)
"""The signals that end a worker, or the master."""

_REPEATABLE = frozenset({signal.SIGCHLD, signal.SIGHUP, signal.SIGUSR1})
"""Signals that are handled once when they arrive several times."""

DUMP_SIGNAL = signal.SIGUSR2
"""The signal on which a worker writes the stacks of its threads to standard error."""

MIN_GRACE = 2
"""The shortest grace period in seconds: a worker needs it to record how its requests ended."""

_MARGIN = 2.0
_PER_REQUEST = 0.001
"""Seconds to end one request: the response, the ledger entry and the log line."""


def in_order(signals: Sequence[int]) -> list[int]:
    """The signals that a master has received, in the order in which it handles them: those that end
    it first, the most urgent at the front, and repeatable ones once."""
    repeatable = dict.fromkeys(sig for sig in signals if sig in _REPEATABLE)
    distinct = [*repeatable, *(sig for sig in signals if sig not in _REPEATABLE)]
    return sorted(distinct, key=lambda sig: _URGENCY.get(sig, len(_URGENCY)))


class ShutdownDeadlines(NamedTuple):
    """Seconds after the delay."""

    interrupt: float
    cut: float


def deadlines(grace: float, connections: int = 0) -> ShutdownDeadlines:
    """The deadlines of a worker with `connections` open ones. `grace` is in seconds."""
    margin = min(_MARGIN + connections * _PER_REQUEST, grace / 2)
    return ShutdownDeadlines(grace - margin, grace - margin / 4)


def master_listens() -> bool:
    """Whether the master of this worker still has one of its listening sockets: then the worker has
    a successor, and the master does not stop. gunicorn sends the same signal for both. False where
    /proc does not show it."""
    try:
        masters = _sockets(os.getppid())
        workers = _sockets(os.getpid())
    except OSError:
        return False
    return any(_accepts(descriptor) for inode, descriptor in workers.items() if inode in masters)


def _sockets(pid: int) -> dict[str, int]:
    """A descriptor for each socket of a process, by the name of its inode."""
    descriptors = {}
    for descriptor in os.listdir(f"/proc/{pid}/fd"):
        with suppress(OSError):  # it was closed meanwhile
            target = os.readlink(f"/proc/{pid}/fd/{descriptor}")
            if target.startswith("socket:"):
                descriptors[target] = int(descriptor)
    return descriptors


def _accepts(descriptor: int) -> bool:
    """Whether a socket of this process listens."""
    with socket.socket(fileno=os.dup(descriptor)) as duplicate:
        return bool(duplicate.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
