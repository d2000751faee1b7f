"""The places that one attempt holds: one at each gate of its target.

Every request takes them in the same order, the target's gate before the upstream's, so that there
is no deadlock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import gevent
from gevent.event import AsyncResult

from engine.upstream.admission.gate import Gate, Wait


class NoPlace(Exception):
    """A `gate` has no place for the request; `result` is how the wait for one ended."""

    def __init__(self, gate: Gate, result: Wait) -> None:
        super().__init__(result.value)
        self.gate, self.result = gate, result


class NoPlaces(Exception):
    """No place for any of several attempts; `refusals` has the NoPlace of each."""

    def __init__(self, refusals: Sequence[NoPlace]) -> None:
        super().__init__(*refusals)
        self.refusals = refusals


class Places:
    """A place of each gate, held until `release` or `cancel`. Both are idempotent."""

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
        """Give the places back without an attempt, so that no time is measured."""
        gates, self._gates = self._gates, ()
        for gate in reversed(gates):
            gate.cancel()


def take_places(
    gates: Sequence[Gate], rank: int, clock: Callable[[], float] = time.monotonic
) -> Places:
    """Take a place of every gate for a request of this rank. Raises NoPlace if a gate has none now;
    the places taken before it are given back."""
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
    """Wait for a place of one gate after another, `timeout` seconds in all. Raises NoPlace."""
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
    """The index of the first option whose gates all have a place, and these places. Waits in the
    queues of all options at once, `timeout` seconds in all. No two options may share a gate.
    Raises NoPlaces."""
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
    return _wait_concurrently(options, lambda gates: wait_for_places(gates, rank, timeout, clock))


def _wait_concurrently(
    options: Sequence[Sequence[Gate]], wait: Callable[[Sequence[Gate]], Places]
) -> tuple[int, Places]:
    """Wait for each option in a greenlet of its own. All places but the returned ones are given
    back, also after an exception."""
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
    for greenlet in runs:
        greenlet.link_exception(first)
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
