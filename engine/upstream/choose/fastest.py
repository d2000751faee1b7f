"""`fastest`: of a few targets drawn by weight, the one that is expected to answer first.

The expected time is that of an answer of 200 tokens, from the averages of the machine (see
`answer_times`), times the requests in flight including this one, divided by the target's weight. So
a fast target gets more requests until it is as late as the others. Dividing by the share of
attempts that succeed adds the time that failed attempts cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.exchange.stage_services import Services
from engine.upstream.choose.interface import StrategyKind
from engine.upstream.targets.best_of_sample import BestOfSample, SampledTarget
from engine.upstream.targets.target_groups import Strategy

_SAMPLE_SIZE = 3
_FAILING = 0.5
"""With a larger share of failures a target that was never measured gets no request."""


def _build(options: None, services: Services) -> Strategy:
    """The strategy of a worker, with what its machine knows of the targets."""
    return BestOfSample(services, _SAMPLE_SIZE, _fastest)


def _fastest(sample: Sequence[SampledTarget]) -> SampledTarget:
    some_known = any(target.typical for target in sample)
    best, least = sample[0], _time(sample[0], some_known)
    for other in sample[1:]:
        time = _time(other, some_known)
        if time < least:
            best, least = other, time
    return best


def _time(target: SampledTarget, some_known: bool) -> float:
    """The seconds until a target is expected to answer one more request. A target that was never
    measured gets one request at once, and no other until that is answered, if other targets were
    measured."""
    seconds = target.typical
    if not seconds and some_known:
        return math.inf if target.in_flight or target.failures > _FAILING else 0.0
    return (seconds or 1.0) * (target.in_flight + 1) / (target.share * (1.0 - target.failures))


STRATEGY = StrategyKind(build=_build, by_time=True)
