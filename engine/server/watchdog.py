"""When a worker is stuck: it computes for longer than any request takes, or does nothing.

A worker marks the turns of its event loop. On a busy machine a turn may take minutes and be sound,
so what counts is not the time since the last mark, but the processor time of the worker since then.

`TurnTimer` is the worker's side. The operating system interrupts a worker that computes; each
interrupt marks the turn, until one greenlet has computed for `limit` seconds without a switch.
`Watchdog` is the master's side, for what no interrupt reaches: code in C that does not return, and
a worker that waits for something outside of its event loop.
"""

from __future__ import annotations

import os
import signal
import time
import traceback
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import gevent

from engine.server.shutdown import DUMP_SIGNAL

_INTERVAL = 0.1
"""Seconds of processor time between two interrupts."""
_ENDING_SECONDS = 10.0
"""How long a worker that was told to end may compute, or do nothing, before it is killed; at most
the limit."""


class TurnTimer:
    """Marks the turn of a worker that computes, by `mark`, and calls `stuck` with the stack when
    one greenlet has computed for `limit` seconds of processor time without a switch. A limit of 0
    is none."""

    def __init__(
        self, limit: float, mark: Callable[[], None], stuck: Callable[[FrameType | None], None]
    ) -> None:
        self._limit = limit
        self._mark = mark
        self._stuck = stuck
        self._greenlet: Callable[[], object] = lambda: None
        self._begin = 0.0

    def start(self) -> None:
        signal.signal(signal.SIGVTALRM, self.interrupt)
        signal.siginterrupt(signal.SIGVTALRM, False)
        signal.setitimer(signal.ITIMER_VIRTUAL, _INTERVAL, _INTERVAL)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def turn(self) -> None:
        """The event loop has begun another turn."""
        self._greenlet = lambda: None

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """The handler of the signal, in the greenlet that computes."""
        greenlet, now = gevent.getcurrent(), time.thread_time()
        if self._greenlet() is not greenlet:
            self._greenlet, self._begin = weakref.ref(greenlet), now
        elif self._limit and now - self._begin >= self._limit:
            self.stop()
            self._stuck(frame)
            return
        self._mark()


def stack(frame: FrameType | None) -> str:
    """Where a worker is: files, lines and functions, without any value."""
    frames = reversed(list(traceback.walk_stack(frame))) if frame is not None else ()
    return "\n".join(
        f"  {f.f_code.co_filename}:{line} {f.f_code.co_qualname}" for f, line in frames
    )


class Remedy(NamedTuple):
    """What the master does about a stuck worker: the signal, and what it logs with the pid."""

    signal: int
    message: str


_REMEDIES = (
    Remedy(signal.SIGABRT, "worker %s is stuck: it is told to end its requests"),
    Remedy(DUMP_SIGNAL, "worker %s does not end: it is told to write where it stands"),
    Remedy(signal.SIGKILL, "worker %s does not end: it is killed"),
)
"""One after the other, while the worker does not go on."""


@dataclass
class _Watch:
    """A worker since its last mark or remedy: its processor time then and now, when that last
    rose, and the number of remedies."""

    mark: float
    first_cpu: float
    cpu: float
    since: float
    remedies: int = 0


class Watchdog:
    """Judges the workers of a master. `limit` is in seconds, of processor time since a worker's
    last mark, or of time in which it used none; 0 is no limit. `cpu` reads the processor time of a
    process."""

    def __init__(
        self,
        limit: float,
        clock: Callable[[], float] = time.monotonic,
        cpu: Callable[[int], float] | None = None,
    ) -> None:
        self._limit = limit
        self._clock = clock
        self._cpu = cpu or main_thread_cpu
        self._watches: dict[int, _Watch] = {}

    def check(self, pid: int, mark: float) -> Remedy | None:
        """The remedy that is due. Called about once a second; `mark` is the time of the worker's
        last mark, by the wall clock until it serves."""
        now = self._clock()
        if not self._limit or mark > now:
            return None
        cpu = self._cpu(pid)
        watch = self._watches.setdefault(pid, _Watch(mark, cpu, cpu, now))
        if watch.mark != mark:
            watch.mark, watch.first_cpu, watch.since = mark, cpu, now
        if watch.cpu != cpu:
            watch.cpu, watch.since = cpu, now
        ending = min(self._limit, _ENDING_SECONDS)
        limit = (self._limit, ending, 0.0, ending)[watch.remedies]
        if cpu - watch.first_cpu < limit and now - watch.since < limit:
            return None
        remedy = _REMEDIES[min(watch.remedies, len(_REMEDIES) - 1)]
        watch.first_cpu, watch.since = cpu, now
        watch.remedies = min(watch.remedies + 1, len(_REMEDIES))
        return remedy

    def keep(self, pids: Iterable[int]) -> None:
        """Forget all other workers."""
        for pid in self._watches.keys() - set(pids):
            del self._watches[pid]


def main_thread_cpu(pid: int) -> float:
    """Processor time of the main thread of a process in seconds; 0 where /proc does not show it."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/stat").read_text("latin-1")
    except OSError:
        return 0.0
    user, system = text.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
