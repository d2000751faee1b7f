"""A turn of the event loop, for a greenlet that computes for milliseconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import gevent

SECONDS = 0.005
"""How long a greenlet computes before others have their turn."""

FEW_BYTES = 16_384
"""So many bytes with the smallest items take a few milliseconds, whatever is done with each: to
pace them would cost more."""

Item = TypeVar("Item")


def await_turn() -> None:
    """Let the loop read what has arrived, and all that wakes run, before this greenlet goes on.

    `gevent.sleep(0)` does not: it resumes a greenlet that was woken by a socket before the loop
    looks at the sockets again. The priority lets the timer fire behind those that can be read.
    Where the loop itself calls it, as of a stream that is passed on, it does nothing.
    """
    hub = gevent.get_hub()
    if gevent.getcurrent() is hub:
        return
    timer = hub.loop.timer(0, priority=-1)
    try:
        hub.wait(timer)
    finally:
        timer.close()


def paced_if_many(items: Iterable[Item], size: int) -> Iterable[Item]:
    """The items that are read from `size` bytes, paced unless these are few."""
    return paced(items) if size > FEW_BYTES else items


def paced(items: Iterable[Item]) -> Iterator[Item]:
    """The items; before one that comes milliseconds after the last turn of the loop, it has
    another."""
    pace = pacer()
    for item in items:
        pace()
        yield item


def pacer() -> Callable[[], None]:
    """A function that lets the loop have a turn, if the last was milliseconds ago."""
    last = time.monotonic()

    def pace() -> None:
        nonlocal last
        if time.monotonic() - last > SECONDS:
            await_turn()
            last = time.monotonic()

    return pace
