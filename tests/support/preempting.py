"""Greenlets that compute, and are interrupted."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from gevent.event import Event

from engine.process.preemption import Preemption
from tests.support.waiting import PATIENCE


@contextmanager
def interrupting(preemption: Preemption, limit: float = 0.0) -> Iterator[list[FrameType | None]]:
    """The stacks of greenlets that computed for longer than `limit`."""
    before, stuck = signal.getsignal(signal.SIGPROF), list[FrameType | None]()
    preemption.enable(limit, stuck.append)
    try:
        yield stuck
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def until_set(event: Event, seconds: float = PATIENCE) -> bool:
    """Compute, without a wait, until another greenlet has set the event. False if none does."""
    end = time.monotonic() + seconds
    while not event.is_set():
        if time.monotonic() > end:
            return False
    return True
