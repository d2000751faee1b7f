"""The places that one attempt holds: one of each bound of its target.

The order of the gates is that of the target: its own bound, then its upstream's. All requests take
them in this order, so that no two wait for each other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import gevent
from gevent.event import AsyncResult

from engine.upstream.admission.gate import Gate, Wait


class NoPlace(Exception):
    """There is no place at a gate: how the wait for one ended."""

    def __init__(self, gate: Gate, result: Wait) -> None:
        super().__init__(result.value)
        self.gate, self.result = gate, result


class NoPlaces(Exception):
    """There is no place for any of several attempts: the `refusals`, one for each."""

    def __init__(self, refusals: Sequence[NoPlace]) -> None:
        super().__init__(*refusals)
        self.refusals = refusals


class Places:
    """A place of each of the gates, until `release` or `cancel`, which may be called repeatedly."""

    __slots__ = ("_clock", "_gates", "_start")

    def __init__(self, gates: Sequence[Gate], clock: Callable[[], float]) -> None:
        self._gates, self._clock, self._start = gates, clock, clock()

    def release(self) -> None:
        """Give the places back, after the attempt."""
        gates, self._gates = self._gates, ()
        seconds = self._clock() - self._start
        for gate in reversed(gates):
            gate.release(seconds)

    def cancel(self) -> None:
        """Give the places back, without an attempt."""
        gates, self._gates = self._gates, ()
        for gate in reversed(gates):
            gate.cancel()


def take_places(
    gates: Sequence[Gate], rank: int, clock: Callable[[], float] = time.monotonic
) -> Places:
    """A place of every gate for a request of this rank. Raises NoPlace for a gate that has no place
    for it now."""
    for index, gate in enumerate(gates):
        if not gate.try_enter(rank):
            Places(gates[:index], clock).cancel()
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
            Places(gates[:index], clock).cancel()
            raise
    return Places(gates, clock)


def wait_for_any(
    options: Sequence[Sequence[Gate]],
    rank: int,
    timeout: float,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[int, Places]:
    """A place of every gate of one of the options, and the index of it: the first that has one. It
    is waited for in the queues of all at once, `timeout` seconds in all. No two options share a
    gate. Raises NoPlaces."""
    if len(options) == 1:
        try:
            return 0, wait_for_places(options[0], rank, timeout, clock)
        except NoPlace as refusal:
            raise NoPlaces([refusal]) from None
    for index, gates in enumerate(options):
        try:
            return index, take_places(gates, rank, clock)
        except NoPlace:
            continue
    return _wait_beside(options, lambda gates: wait_for_places(gates, rank, timeout, clock))


def _wait_beside(
    options: Sequence[Sequence[Gate]], wait: Callable[[Sequence[Gate]], Places]
) -> tuple[int, Places]:
    """Wait for each option in a greenlet of its own. Whatever ends it, no place is kept but those
    that are returned."""
    first: AsyncResult[tuple[int, Places]] = AsyncResult()
    refusals: list[NoPlace] = []

    def run(index: int) -> None:
        try:
            places = wait(options[index])
        except NoPlace as refusal:
            refusals.append(refusal)
            if len(refusals) == len(options):
                first.set_exception(NoPlaces(refusals))
            return
        if first.ready():
            places.cancel()
        else:
            first.set((index, places))

    runs = [gevent.spawn(run, index) for index in range(len(options))]
    for each in runs:
        each.link_exception(first)
    try:
        admitted = first.get()
        assert admitted is not None
        gevent.killall(runs)
        return admitted
    except BaseException as error:
        if first.value is not None:
            first.value[1].cancel()
        elif not first.ready():
            first.set_exception(error)  # a place that comes now is given back
        raise
    finally:
        gevent.killall(runs, block=False)
