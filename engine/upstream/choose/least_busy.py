"""`least_busy`: of two targets drawn by weight, the one with fewer requests in flight.

Requests in flight are those of all workers of this machine, divided by the target's weight. Failed
attempts count as additional requests (one, where half of the attempts failed), because a target
that refuses at once is never busy and would get most requests. So do answers that take more than
twice as long as the other target's: with little traffic no target is busy, however slow it is. A
few milliseconds more do not count: a new connection takes as long, or a moment without CPU.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.exchange.stage_services import Services
from engine.upstream.choose.interface import StrategyKind
from engine.upstream.targets.best_of_sample import BestOfSample, SampledTarget
from engine.upstream.targets.target_groups import Strategy

_SAMPLE_SIZE = 2
_SLOW = 2.0
_NOISE = 0.01
"""Seconds more than the other target that mean nothing."""
_TIE = 0.5
"""Targets that differ by so many requests or fewer count as equally busy. The one drawn first is
taken, so that idle targets get requests by their weights."""


def build(options: None, services: Services) -> Strategy:
    """The strategy of a worker, with what its machine knows of the targets."""
    return BestOfSample(services, _SAMPLE_SIZE, _least_busy)


def _least_busy(sample: Sequence[SampledTarget]) -> SampledTarget:
    best = sample[0]
    for other in sample[1:]:
        difference = _busy(best) + _slower(best, other) - _busy(other) - _slower(other, best)
        if difference > _TIE:
            best = other
    return best


def _busy(target: SampledTarget) -> float:
    """Requests in flight divided by the target's share, plus the requests that failures count
    as."""
    return target.in_flight / target.share + target.failures / (1.0 - target.failures)


def _slower(target: SampledTarget, other: SampledTarget) -> float:
    """The requests that count for a target more than twice as slow as the other."""
    if not other.typical:
        return 0.0
    return max(0.0, (target.typical - _NOISE) / other.typical - _SLOW)


STRATEGY = StrategyKind(build=build, by_time=True)
