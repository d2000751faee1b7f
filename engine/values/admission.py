"""How many requests an upstream or a target gets at one time, and which ones wait for a place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

PRIORITIES = ("low", "normal", "high")
"""The priorities of requests, the lowest first."""
NORMAL = PRIORITIES.index("normal")


def check_priority(name: str) -> str:
    """The name, if it is one of a priority. ValueError for another one."""
    if name not in PRIORITIES:
        raise ValueError(f"'{name}' is not a priority; write {', '.join(PRIORITIES)}")
    return name


def rank_of(priority: str) -> int:
    """The rank of a priority by name: higher goes first. "" is normal."""
    return PRIORITIES.index(priority) if priority else NORMAL


class Figures(NamedTuple):
    """Requests that hold a place, and requests that wait for one, of all workers of a machine."""

    in_flight: int
    waiting: int


class Served(NamedTuple):
    """Of the tickets that were asked about: those that have a place now, and those that ended: shed
    for a request of higher priority, or out of time. All others still wait."""

    admitted: Sequence[int]
    ended: Sequence[int]


class AdmissionQueue(Protocol):
    """The places of one bound and the requests that wait for them, shared by the workers of a
    machine. A request waits by its ticket, a number. What a dead worker held is free."""

    def enter(self, rank: int, bound: int) -> bool:
        """Take a place, if one is free and not due to others. Of `bound` places at most."""
        ...

    def join(self, rank: int, size: int, until: float) -> int | None:
        """Wait in the queue of `size` until a time of the monotonic clock, seconds. Returns the
        ticket; None if the queue is full and nobody of lower priority waits in it."""
        ...

    def serve(self, tickets: Sequence[int], bound: int) -> Served:
        """Give places to those of this worker's tickets whose turn it is."""
        ...

    def leave(self, ticket: int) -> None:
        """Wait no longer."""
        ...

    def release(self) -> None:
        """Give a place back."""
        ...

    def figures(self) -> Figures: ...


class AdmissionQueues(Protocol):
    """The queues of a machine by name."""

    def queue(self, name: str, /) -> AdmissionQueue: ...
