"""`fastest`: of a few targets drawn by weight, the one that would have answered first.

Compared is the time of an answer of 200 tokens, from the averages of the machine (see
`answer_times`), times the requests in flight and this one, divided by the target's weight. So a
fast target gets more requests until it is as late as the others. Time that failed attempts cost is
added by dividing by the share of attempts that succeed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from engine.exchange.services import Services
from engine.upstream.best_of_sample import BestOfDrawn, Drawn
from engine.upstream.target_groups import Strategy

SCHEMA: dict[str, Any] = {"type": "null"}
BY_TIME = True

_DRAWN = 3


def build(options: None, services: Services) -> Strategy:
    """The strategy of a worker, with what its machine knows of the targets."""
    return BestOfDrawn(services, _DRAWN, _fastest)


def _fastest(drawn: Sequence[Drawn]) -> Drawn:
    some_known = any(target.typical for target in drawn)
    best, least = drawn[0], _time(drawn[0], some_known)
    for other in drawn[1:]:
        time = _time(other, some_known)
        if time < least:
            best, least = other, time
    return best


def _time(target: Drawn, some_known: bool) -> float:
    """The seconds after which a target would have answered one more request. One that was never
    measured is asked at once, and waits for that answer while others are known."""
    seconds = target.typical
    if not seconds and some_known:
        return math.inf if target.in_flight or target.failures else 0.0
    return (seconds or 1.0) * (target.in_flight + 1) / (target.share * (1.0 - target.failures))
