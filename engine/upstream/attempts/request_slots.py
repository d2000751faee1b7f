"""The slots of one request at targets with bounds (see `admission/`): taken if they are free, else
waited for, and given back when the attempt that held them has failed.

Theory of operation. A target without a free slot waits in `full`. Once no other target is left,
`wait` joins at most MAX_QUEUES queues at once, and the first target with a slot at each of its
gates is the one to attempt. Targets share gates, so a gate is looked at once (`_full_gates`) and
waited for once (`_refusals`), however many targets are behind it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from engine.exchange.request_record import RequestRecord
from engine.upstream.admission.gate import Gate, Wait
from engine.upstream.admission.slots import NoSlot, NoSlots, Slots, take_slots, wait_for_any
from engine.upstream.responses.error_response import all_busy
from engine.upstream.targets.target import Target
from engine.values.errors import GatewayError

MAX_QUEUES = 8
"""The largest number of queues in which a request waits at once; a hundred would cost too much."""


class RequestSlots:
    """The slots of a request whose priority has this `rank`.

    `full` are the targets without a free slot that were not waited for yet. No wait goes beyond
    `deadline`, a time of `clock`; the seconds in queues are added to `record`.
    """

    def __init__(
        self, rank: int, record: RequestRecord, deadline: float, clock: Callable[[], float]
    ) -> None:
        self.full: list[Target] = []
        self._full_gates: set[Gate] = set()  # had no free slot at the last look
        self._refusals: list[NoSlot] = []  # of gates without a free slot after the wait
        self._held: dict[Target, Slots] = {}
        self._rank = rank
        self._record = record
        self._deadline = deadline
        self._clock = clock

    def take(self, target: Target) -> Slots | None:
        """The free slots of a target; None if one is missing: the target then joins `full`."""
        if self._full_gates.isdisjoint(target.gates):
            try:
                return take_slots(target.gates, self._rank)
            except NoSlot as refusal:
                self._full_gates.add(refusal.gate)
        self.full.append(target)
        return None

    def wait(self) -> tuple[Target, Slots] | None:
        """Wait at the `full` targets, several at once. Returns the first one with slots, which
        leaves `full`; after a timeout, None, and all that were waited for leave it. Targets of a
        gate that was waited for before are left out."""
        waited_for = {refusal.gate for refusal in self._refusals}
        for target in self.full:
            if not waited_for.isdisjoint(target.gates):
                self._full_gates.difference_update(target.gates)  # a retry looks again
        self.full = [each for each in self.full if waited_for.isdisjoint(each.gates)]
        waiting = _without_common_gates(self.full)[:MAX_QUEUES]
        admitted = self._wait_at(waiting) if waiting else None
        leaving = waiting if admitted is None else admitted[:1]
        self.full = [target for target in self.full if target not in leaving]
        return admitted

    def hold(self, target: Target, slots: Slots | None) -> Slots | None:
        """Hold the `slots` of an attempt until `release`. Without any, for a retry, wait for them;
        None if none became free in time."""
        if slots is None and (admitted := self._wait_at([target])) is not None:
            _, slots = admitted
        if slots is not None:
            self._held[target] = slots
        return slots

    def release(self, target: Target) -> None:
        """Give back the slots of an attempt that has ended."""
        if (slots := self._held.pop(target, None)) is not None:
            slots.release()

    def refusal(self) -> GatewayError | None:
        """The error of a request that got no slot in time, None if it waited for none."""
        if not self._refusals:
            return None
        self._record.limit = "max_in_flight"
        wait = min(refusal.gate.retry_after() for refusal in self._refusals)
        return all_busy(wait, [refusal.result for refusal in self._refusals])

    def _wait_at(self, targets: Sequence[Target]) -> tuple[Target, Slots] | None:
        """The first of the targets that has slots, and these slots; None after a timeout."""
        start = self._clock()
        try:
            index, slots = wait_for_any(
                [target.gates for target in targets], self._rank, self._deadline - start
            )
            return targets[index], slots
        except NoSlots as error:
            self._refusals += error.refusals
            self._full_gates.difference_update(refusal.gate for refusal in error.refusals)
            if all(refusal.result is Wait.FULL for refusal in error.refusals):
                start = math.inf  # the queues had no room: no time was spent
            return None
        finally:
            waited = max(0.0, self._clock() - start)
            self._record.queue_time += waited
            self._record.wait_time += waited


def _without_common_gates(targets: Sequence[Target]) -> list[Target]:
    """The targets that share no gate with one before them."""
    apart: list[Target] = []
    gates: set[Gate] = set()
    for target in targets:
        if gates.isdisjoint(target.gates):
            apart.append(target)
            gates.update(target.gates)
    return apart
