"""Counting what is limited, exactly, however many workers or machines count together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Limit:
    """What one request takes of one allowance.

    `key` names who shares it, `amount` is what may be taken within any `window` seconds (0: at one
    time, until it is given back), `cost` what this request takes.
    """

    key: str
    amount: int
    window: float
    cost: int = 1


@dataclass(frozen=True, slots=True)
class State:
    """How a limit stands after a request: what is left (at least 0), and the seconds until all of
    it is there again (`reset`) or, when it was denied, until a request may pass (`wait`)."""

    remaining: int
    reset: float
    wait: float = 0.0


@dataclass(frozen=True, slots=True)
class Taken:
    """What `take` says: `denied` is the index of the first limit that refuses, or None when all
    pass; `states` has one for each limit asked about, in order; `receipt` goes back to `settle`."""

    denied: int | None
    states: Sequence[State]
    receipt: object = None


class CountersAway(Exception):
    """The store of the counters cannot be reached in time."""


class Counters(Protocol):
    """A store of counters. Either all limits of a request are taken, or none."""

    def take(self, limits: Sequence[Limit]) -> Taken:
        """Take what a request costs. Raises CountersAway within 50 ms when the store is away."""
        ...

    def settle(self, receipt: object, costs: Sequence[int]) -> None:
        """The request is over: correct what was taken to what it really cost, one number for each
        limit (0 refunds it; may be more than was taken), and give back what was held at a time.
        Raises nothing when the store is away; what a dead store lost cannot be corrected."""
        ...

    def close(self) -> None: ...
