"""Counting what is limited, exactly, however many workers or machines count together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

T = TypeVar("T")

HELD_AGAIN = 1.0
"""Seconds after which to ask again for a slot: nobody knows when one is given back."""


class Limit(NamedTuple):
    """An allowance that is shared: `key` names by whom, `amount` is what may be taken within any
    `window` seconds (0: at one time, until it is given back). Limits of the same key and window
    share their count."""

    key: str
    amount: int
    window: float


class CounterKeys:
    """Limits that requests alike are held against together, one request after the other: to be
    made once for all of them, and asked of one store.

    What the store finds out about them it keeps here: where it counts each, and `ahead`, what it
    has taken for requests to come.
    """

    __slots__ = ("_parts", "_places", "ahead", "limits")

    def __init__(self, limits: Sequence[Limit]) -> None:
        self.limits = tuple(limits)
        self.ahead: Any = None
        self._places: Any = None
        self._parts: dict[tuple[tuple[int, ...], int], CounterKeys] = {}

    def part(self, indices: tuple[int, ...], machines: int) -> CounterKeys:
        """Some of these limits for another store: of each amount the part of one of so many
        machines, rounded down and at least 1."""
        part = self._parts.get((indices, machines))
        if part is None:
            limits = [self.limits[at] for at in indices]
            part = self._parts[indices, machines] = CounterKeys(
                [Limit(key, max(1, amount // machines), window) for key, amount, window in limits]
            )
        return part

    def places(self, place: Callable[[Limit], T]) -> Sequence[T]:
        """Where the store counts each, as `place` says when it is first asked."""
        if self._places is None:
            self._places = [place(limit) for limit in self.limits]
        places: Sequence[T] = self._places
        return places


class TakeResult(NamedTuple):
    """What `take` says: `denied` is the index of the first limit that refuses, or None when all
    pass. Then for each limit asked about, in order: what is left of it (`remaining`, at least 0),
    the seconds until all of it is there again (`resets`, 0 for what is held at a time) and, only
    when one denies, those until the request may pass it (`waits`; the whole window when its cost is
    more than the amount).

    `receipt` goes back to `settle` at most once (a second time does nothing), in the worker that
    took: where nothing is held and all came to what was taken, it need not.

    Nobody changes these lists, nor the costs of a request, once they were handed over.
    """

    denied: int | None
    remaining: Sequence[int]
    resets: Sequence[float]
    receipt: object = None
    waits: Sequence[float] = ()


made = tuple.__new__
"""`made(TakeResult, (denied, ...))` is a TakeResult, a third quicker than by its name."""


class State(NamedTuple):
    """How one limit stands, as a TakeResult tells."""

    remaining: int
    reset: float
    wait: float = 0.0


def refusal(denied: int, states: Sequence[State]) -> TakeResult:
    """What is said when the limit `denied` refuses, and all stand like this."""
    remaining, resets, waits = map(list, zip(*states, strict=True))
    return TakeResult(denied, remaining, resets, None, waits)


class CountersAway(Exception):
    """The store of the counters cannot be reached in time."""


class Counters(Protocol):
    """A store of counters. Either all limits of a request are taken, or none."""

    def take(self, asked: CounterKeys, costs: Sequence[int]) -> TakeResult:
        """Take what a request costs: of each limit so much, at least 0. A cost of 0 passes as long
        as less than the amount is taken. Raises CountersAway when the store does not answer in
        time."""
        ...

    def settle(self, receipt: object, costs: Sequence[int]) -> None:
        """The request is over: correct what was taken to what it really cost, one number for each
        limit (0 refunds it; may be more than was taken), and give back what was held at a time,
        whatever its number says. A correction counts when the request was let in, or now when that
        is longer ago than the window. Raises nothing when the store is away; what a dead store lost
        cannot be corrected. The receipt of a denied request (None) does nothing."""
        ...

    def close(self) -> None: ...
