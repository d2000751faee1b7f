"""The slots that one attempt holds: one at each gate of its target.

Every request takes them in the same order, the target's gate before the upstream's, so that there
is no deadlock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import gevent
from gevent.event import AsyncResult

from engine.upstream.admission.gate import Gate, Wait


class NoSlot(Exception):
    """A `gate` has no slot for the request; `result` is how the wait for one ended."""

    def __init__(self, gate: Gate, result: Wait) -> None:
        super().__init__(result.value)
        self.gate, self.result = gate, result


class NoSlots(Exception):
    """No slot for any of several attempts; `refusals` has the NoSlot of each."""

    def __init__(self, refusals: Sequence[NoSlot]) -> None:
        super().__init__(*refusals)
        self.refusals = refusals


class Slots:
    """A slot of each gate, held until `release` or `cancel`. Both are idempotent."""

    __slots__ = ("_clock", "_gates", "_start")

    def __init__(self, gates: Sequence[Gate], clock: Callable[[], float]) -> None:
        self._gates, self._clock, self._start = gates, clock, clock()

    def release(self) -> None:
        """Give the slots back, after the attempt."""
        gates, self._gates = self._gates, ()
        seconds = self._clock() - self._start
        for gate in reversed(gates):
            gate.release(seconds)

    def cancel(self) -> None:
        """Give the slots back without an attempt, so that no time is measured."""
        gates, self._gates = self._gates, ()
        for gate in reversed(gates):
            gate.cancel()


def take_slots(
    gates: Sequence[Gate], rank: int, clock: Callable[[], float] = time.monotonic
) -> Slots:
    """Take a slot of every gate for a request of this rank. Raises NoSlot if a gate has none now;
    the slots taken before it are given back."""
    for index, gate in enumerate(gates):
        if not gate.try_enter(rank):
            Slots(gates[:index], clock).cancel()
            raise NoSlot(gate, Wait.FULL)
    return Slots(gates, clock)


def wait_for_slots(
    gates: Sequence[Gate],
    rank: int,
    timeout: float,
    clock: Callable[[], float] = time.monotonic,
) -> Slots:
    """Wait for a slot of one gate after another, `timeout` seconds in all. Raises NoSlot."""
    end = clock() + timeout
    for index, gate in enumerate(gates):
        try:
            result = Wait.ADMITTED if gate.try_enter(rank) else gate.wait(rank, end - clock())
            if result is not Wait.ADMITTED:
                raise NoSlot(gate, result)
        except BaseException:
            Slots(gates[:index], clock).cancel()
            raise
    return Slots(gates, clock)


def wait_for_any(options: Sequence[Sequence[Gate]], rank: int, timeout: float) -> tuple[int, Slots]:
    """The index of the first option whose gates all have a slot, and these slots. Waits in the
    queues of all options at once, `timeout` seconds in all. No two options may share a gate.
    Raises NoSlots."""
    if len(options) == 1:
        try:
            return 0, wait_for_slots(options[0], rank, timeout)
        except NoSlot as refusal:
            raise NoSlots([refusal]) from None
    for index, gates in enumerate(options):
        try:
            return index, take_slots(gates, rank)
        except NoSlot:
            continue
    return _wait_concurrently(options, lambda gates: wait_for_slots(gates, rank, timeout))


def _wait_concurrently(
    options: Sequence[Sequence[Gate]], wait: Callable[[Sequence[Gate]], Slots]
) -> tuple[int, Slots]:
    """Wait for each option in a greenlet of its own. All slots but the returned ones are given
    back, also after an exception."""
    first: AsyncResult[tuple[int, Slots]] = AsyncResult()
    refusals: list[NoSlot] = []

    def run(index: int) -> None:
        try:
            slots = wait(options[index])
        except NoSlot as refusal:
            refusals.append(refusal)
            if len(refusals) == len(options):
                first.set_exception(NoSlots(refusals))
            return
        if first.ready():
            slots.cancel()
        else:
            first.set((index, slots))

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
            first.set_exception(error)  # a slot that comes now is given back
        raise
    finally:
        gevent.killall(runs, block=False)
