"""The queue of an upstream, in this process."""

from __future__ import annotations

from collections.abc import Sequence

from engine.stores.admission.queue import QueueState
from engine.values.admission import Figures, Served


class QueueInProcess:
    """A queue without shared memory. A test sets `holder`, the worker that acts."""

    def __init__(self) -> None:
        self.state, self.holder, self.now = QueueState(), 1, 0

    def enter(self, rank: int, bound: int) -> bool:
        return self.state.enter(self.holder, rank, bound)

    def join(self, rank: int, size: int, until: float) -> int | None:
        return self.state.join(self.holder, rank, size, round(until * 1e6))

    def serve(self, tickets: Sequence[int], bound: int) -> Served:
        self.state.drop_dead(lambda worker: True, self.now)
        admitted = self.state.admit(tickets, bound, self.now)
        rest = {*self.state.waiting.numbers, *admitted}
        return Served(admitted, [ticket for ticket in tickets if ticket not in rest])

    def leave(self, ticket: int) -> None:
        self.state.leave(ticket)

    def release(self) -> None:
        self.state.release(self.holder)

    def figures(self) -> Figures:
        return Figures(self.state.in_flight, len(self.state.waiting))
