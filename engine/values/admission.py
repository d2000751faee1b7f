"""How many requests an upstream or a target gets at one time, and which ones wait for a slot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

PRIORITIES = ("low", "normal", "high")
"""The priorities of requests, the lowest first."""
NORMAL = PRIORITIES.index("normal")


def check_priority(name: str) -> str:
    """Return `name` if it is one of PRIORITIES; raise ValueError otherwise."""
    if name not in PRIORITIES:
        raise ValueError(f"'{name}' is not a priority; write {', '.join(PRIORITIES)}")
    return name


def rank_of(priority: str) -> int:
    """The rank of a priority by name: higher goes first. "" is normal."""
    return PRIORITIES.index(priority) if priority else NORMAL


class Figures(NamedTuple):
    """Requests that hold a slot, and requests that wait for one, of all workers of a machine."""

    in_flight: int
    waiting: int


class Served(NamedTuple):
    """The result of `serve`: tickets that have a slot now, and tickets that ended because a
    request of higher priority replaced them or their time ran out. All others still wait."""

    admitted: Sequence[int]
    ended: Sequence[int]


class AdmissionQueue(Protocol):
    """A bounded number of slots and the queue of requests that wait for one, shared by the workers
    of a machine. A ticket is the number of a waiting request. A dead worker's slots are free."""

    def enter(self, rank: int, bound: int) -> bool:
        """Take one of at most `bound` slots. False if none is free or waiting requests come
        first."""
        ...

    def join(self, rank: int, size: int, until: float) -> int | None:
        """Join the queue, which holds `size` requests, until a time of the monotonic clock in
        seconds. Returns the ticket; None if the queue is full and holds no lower priority."""
        ...

    def serve(self, tickets: Sequence[int], bound: int) -> Served:
        """Give slots to those of this worker's tickets whose turn it is."""
        ...

    def leave(self, ticket: int) -> None:
        """Leave the queue."""
        ...

    def release(self) -> None:
        """Give a slot back."""
        ...

    def figures(self) -> Figures: ...


class AdmissionQueues(Protocol):
    """The queues of a machine by name."""

    def queue(self, name: str, /) -> AdmissionQueue: ...
