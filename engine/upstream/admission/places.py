"""The places that one attempt holds: one of each bound of its target.

The order of the gates is that of the target: its own bound, then its upstream's. All requests take
them in this order, so that no two wait for each other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from engine.upstream.admission.gate import Gate, Wait


class NoPlace(Exception):
    """There is no place at a gate: how the wait for one ended."""

    def __init__(self, gate: Gate, result: Wait) -> None:
        super().__init__(result.value)
        self.gate, self.result = gate, result


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
) -> Places:
    """A place of every gate for a request of this rank. Raises NoPlace for a gate that has no place
    for it now."""
    for index, gate in enumerate(gates):
        if not gate.try_enter(rank):
            Places(gates[:index], clock).release()
            raise NoPlace(gate, Wait.FULL)
    return Places(gates, clock)


def wait_for_places(
    gates: Sequence[Gate],
    rank: int,
    timeout: float,
    clock: Callable[[], float] = time.monotonic,
) -> Places:
    """A place of every gate, waited for in turn, `timeout` seconds in all. Raises NoPlace."""
    end = clock() + timeout
    for index, gate in enumerate(gates):
        try:
            result = Wait.ADMITTED if gate.try_enter(rank) else gate.wait(rank, end - clock())
            if result is not Wait.ADMITTED:
                raise NoPlace(gate, result)
        except BaseException:
            Places(gates[:index], clock).release()
            raise
    return Places(gates, clock)
