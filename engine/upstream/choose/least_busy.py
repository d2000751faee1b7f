"""`least_busy`: of two targets drawn by weight, the one with fewer requests in flight.

Requests in flight are those of all workers of this machine, divided by the target's weight. A
target that fails counts as busier, by one request where half of its attempts failed; so does one
whose answers take more than twice as long as the other's. Otherwise a target that refuses at once,
and so is never busy, would get most requests, and with little traffic each would get its share
however slow it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.exchange.services import Services
from engine.upstream.best_of_sample import BestOfDrawn, Drawn
from engine.upstream.target_groups import Strategy

SCHEMA: dict[str, Any] = {"type": "null"}
BY_TIME = True

_DRAWN = 2
_SLOW = 2.0
_TIE = 0.5
"""Requests by which two targets may differ and be as busy: the one that was drawn first is taken,
so that idle targets get requests by their weights."""


def build(options: None, services: Services) -> Strategy:
    """The strategy of a worker, with what its machine knows of the targets."""
    return BestOfDrawn(services, _DRAWN, _least_busy)


def _least_busy(drawn: Sequence[Drawn]) -> Drawn:
    best = drawn[0]
    for other in drawn[1:]:
        difference = _busy(best) + _slower(best, other) - _busy(other) - _slower(other, best)
        if difference > _TIE:
            best = other
    return best


def _busy(target: Drawn) -> float:
    """Requests in flight, compared with the target's share, and what failures count as."""
    return target.in_flight / target.share + target.failures / (1.0 - target.failures)


def _slower(target: Drawn, other: Drawn) -> float:
    """What it counts as that a target is more than twice as slow as the other."""
    if not other.typical:
        return 0.0
    return max(0.0, target.typical / other.typical - _SLOW)
