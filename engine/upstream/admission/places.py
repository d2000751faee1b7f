"""The places that one attempt holds: one of each bound of its target.

The order of the gates is that of the target: its own bound, then its upstream's. All requests take
them in this order, so that no two wait for each other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from engine.upstream.admission.gate import Gate, Wait


class Places:
    """A place of each of the gates, until `release`, which may be called repeatedly."""

    __slots__ = ("_clock", "_gates", "_start")

    def __init__(self, gates: Sequence[Gate], clock: Callable[[], float]) -> None:
        self._gates, self._clock, self._start = gates, clock, clock()

    def release(self) -> None:
        """Give the places back."""
        gates, self._gates = self._gates, ()
        seconds = self._clock() - self._start
        for gate in reversed(gates):
            gate.release(seconds)


def take_places(
    gates: Sequence[Gate], rank: int, clock: Callable[[], float] = time.monotonic
) -> Places | None:
    """A place of every gate for a request of this rank, None if one of them has no place for it
    now."""
    for index, gate in enumerate(gates):
        if not gate.try_enter(rank):
            Places(gates[:index], clock).release()
            return None
    return Places(gates, clock)


def wait_for_places(
    gates: Sequence[Gate],
    rank: int,
    timeout: float,
    clock: Callable[[], float] = time.monotonic,
) -> Places | Wait:
    """A place of every gate, waited for in turn, `timeout` seconds in all; else why there is
    none."""
    end = clock() + timeout
    for index, gate in enumerate(gates):
        entered = False
        try:
            result = Wait.ADMITTED if gate.try_enter(rank) else gate.wait(rank, end - clock())
            entered = result is Wait.ADMITTED
        finally:
            if not entered:
                Places(gates[:index], clock).release()
        if not entered:
            return result
    return Places(gates, clock)
