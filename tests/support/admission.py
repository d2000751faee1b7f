"""The queue of an upstream, in this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engine.stores.admission.queue import QueueState
from engine.upstream.admission.gate import Gate, GateConfig
from engine.upstream.targets.target import Target
from engine.values.admission import NORMAL, Figures, Served
from tests.support.upstreams import Client, target


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


def bounded(name: str, bound: int = 1, size: int = 0, wait: float = 5.0, **more: Any) -> Target:
    """A target with a bound of its own."""
    gate = Gate(name, "", GateConfig(bound, size, wait), QueueInProcess())
    return replace(target(Client(), name=name, **more), gates=(gate,))


def full(name: str, size: int = 0, wait: float = 5.0, **more: Any) -> Target:
    """A target whose only slot is taken."""
    of = bounded(name, size=size, wait=wait, **more)
    assert of.gates[0].try_enter(NORMAL)
    return of
