"""The interface of the stores that count limits: exact counts across all workers and machines, and
the warning that a share of a limit is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from engine.values.calendar import Calendar
from engine.values.quota import QuotaRule

SLOT_RETRY = 1.0
"""The `wait` of a refused slot in seconds: nothing predicts when a slot becomes free."""


class Limit(NamedTuple):
    """A quota and the key under which it is counted: at most `amount` within any `window` seconds,
    within each window of a calendar or, if `window` is 0, at one time. Limits with the same key and
    window share their count; so do calendars with the same key and different time zones."""

    key: str
    amount: int
    window: float | Calendar


class TakeResult(NamedTuple):
    """The result of `take`: `denied` is the index of the first limit that refuses, None if all
    pass. The sequences have one item for each limit, in order: `remaining` is the amount left (at
    least 0), `resets` the seconds until the full amount is available again (0 for slots; for a
    calendar, until the window ends) and, only if a limit refuses, `waits` the seconds until the
    request may pass it (the whole window if its cost is more than the amount).

    Pass `receipt` to `settle` in the same worker; a second call with it does nothing. A request
    that holds no slots and whose costs need no correction need not settle.

    Nobody may change these sequences or the costs afterwards.
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
    """The store of the counters did not answer in time."""


class Counters(Protocol):
    """A store of counters. `take` takes from all limits of a request, or from none."""

    def take(self, limits: tuple[Limit, ...], costs: Sequence[int]) -> TakeResult:
        """Take `costs`, one number for each limit, at least 0. A cost of 0 passes while less than
        the amount is taken. Raises CountersAway if the store does not answer in time."""
        ...

    def settle(self, receipt: object, costs: Sequence[int]) -> None:
        """End a request: replace what it took by `costs`, one number for each limit (0 refunds; a
        cost may exceed what was taken), and free its slots, whatever their `costs`.

        A correction counts at the time of the take, or now if the take is older than the window.
        Does not raise if the store is unavailable; counts that the store lost stay uncorrected. The
        receipt of a refused request (None) does nothing."""
        ...

    def close(self) -> None: ...


class LimitWarning(NamedTuple):
    """At least `percent` of the amount of `limit` are `used`, or the first request was refused by
    it, which is 100. `rule` says what is counted; `sharer` is the name under which it is, "" for
    all callers together. The window ends, or the whole amount is free again, in `reset` seconds.
    """

    rule: QuotaRule
    sharer: str
    limit: Limit
    percent: int
    used: int
    reset: float
