"""The interface of the stores that count limits, exactly, however many workers or machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from engine.values.calendar import Calendar

SLOT_RETRY = 1.0
"""Seconds after which to ask again for a slot: when a slot becomes free cannot be predicted."""


class Limit(NamedTuple):
    """A quota under the key of its sharers: at most `amount` within any `window` seconds, within
    each window of a calendar or, where `window` is 0, at one time. Limits of the same key and
    window share their count; so do those of the same key and calendars of different time zones."""

    key: str
    amount: int
    window: float | Calendar


class TakeResult(NamedTuple):
    """The answer to `take`: `denied` is the index of the first limit that refuses, None when all
    pass. The sequences have one item for each limit, in order: `remaining` is what is left of it
    (at least 0), `resets` the seconds until its full amount is available again (0 for slots; of a
    calendar until the window ends) and, only when a limit denies, `waits` the seconds until the
    request may pass it (the whole window when its cost is more than the amount).

    `receipt` is for `settle`, which takes it at most once (a second call does nothing), in the
    worker that took. A request that holds no slots and whose costs need no correction need not
    settle.

    Neither these sequences nor the costs are changed after they were passed on.
    """

    denied: int | None
    remaining: Sequence[int]
    resets: Sequence[float]
    receipt: object = None
    waits: Sequence[float] = ()


class LimitState(NamedTuple):
    """`remaining`, `reset` and `wait` of one limit, as in TakeResult."""

    remaining: int
    reset: float
    wait: float = 0.0


def refusal(denied: int, states: Sequence[LimitState]) -> TakeResult:
    """The result when the limit `denied` refuses; `states` are those of all limits."""
    remaining, resets, waits = map(list, zip(*states, strict=True))
    return TakeResult(denied, remaining, resets, None, waits)


class CountersAway(Exception):
    """The store of the counters does not answer in time."""


class Counters(Protocol):
    """A store of counters. A request takes of all its limits, or of none."""

    def take(self, limits: tuple[Limit, ...], costs: Sequence[int]) -> TakeResult:
        """Take `costs`, one number for each limit, at least 0. A cost of 0 passes as long as less
        than the amount is taken. Raises CountersAway when the store does not answer in time."""
        ...

    def settle(self, receipt: object, costs: Sequence[int]) -> None:
        """End a request: correct what it took to `costs`, one number for each limit (0 refunds; it
        may be more than was taken), and free its slots, whatever their number is.

        A correction counts at the time of the take, or now when that is longer ago than the window.
        Raises nothing when the store is away; what the store lost cannot be corrected. The receipt
        of a denied request (None) does nothing."""
        ...

    def close(self) -> None: ...
