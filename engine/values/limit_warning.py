"""A warning that a share of a limit is used, before or when it ends."""

from __future__ import annotations

from typing import NamedTuple

from engine.values.counters import Limit
from engine.values.quota import QuotaRule


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
