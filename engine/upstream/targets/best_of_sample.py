"""Draw a few targets by weight and take the best of them: the power of two choices.

With the best of all targets, all workers would send their requests to one target until its load is
known. The cost of comparing a few does not depend on the number of targets. One request in a
hundred goes to the first drawn target if that is idle, so that a target which was slow or failed is
measured again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from engine.exchange.exchange import Exchange
from engine.exchange.stage_services import Services
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_groups import Shares, TargetGroup
from engine.upstream.targets.target_load import load_of

EXPLORATION_SHARE = 0.01
"""The share of requests that may go to an idle target although another one is better."""


class SampledTarget:
    """A target of the sample, with its `index` in the shares.

    `in_flight` is the number of its requests on this machine, `share` its weight divided by the
    average weight, `typical` the seconds of a typical answer (0.0 if unknown), `failures` the share
    of its attempts that failed, as far as it counts `now`.
    """

    __slots__ = ("failures", "in_flight", "index", "share", "typical")

    def __init__(self, shares: Shares, index: int, now: float) -> None:
        target = shares.targets[index]
        load = target.state.load
        assert load is not None  # since `watch`
        self.index = index
        self.in_flight = load.in_flight
        self.share = target.weight / shares.average or 1.0
        self.typical = load.times.typical
        self.failures = load.times.failures(now)


Best = Callable[[Sequence[SampledTarget]], SampledTarget]
"""Returns the best of the sampled targets; of equal ones, the one that was drawn first."""


class BestOfSample:
    """A strategy that draws up to `count` targets and takes the best."""

    __slots__ = ("_best", "_clock", "_count", "_dice", "_machine")

    def __init__(self, services: Services, count: int, best: Best) -> None:
        self._dice = services.dice
        self._clock = services.monotonic
        self._machine = services.machine
        self._count = count
        self._best = best

    def watch(self, group: TargetGroup) -> None:
        for target in group.targets:
            load_of(target, self._machine)

    def picks(self, group: TargetGroup, exchange: Exchange) -> Iterator[Target]:
        shares = group.shares
        while len(shares.targets) > 1:
            index = self.pick(shares)
            yield shares.targets[index]
            shares = shares.without(index)
        yield shares.targets[0]

    def pick(self, shares: Shares) -> int:
        """The index of the best of two or more targets, or of an idle one that is measured."""
        dice, now = self._dice, self._clock()
        first = SampledTarget(shares, shares.draw(dice), now)
        if dice() < EXPLORATION_SHARE and not first.in_flight:
            return first.index
        if len(shares.targets) <= self._count:
            others = shares.others(first.index)
        else:
            others = [shares.draw_other(first.index, dice)]
            others += [shares.draw(dice) for _ in range(self._count - 2)]
        sample = [
            first,
            *(SampledTarget(shares, i, now) for i in dict.fromkeys(others) if i != first.index),
        ]
        return self._best(sample).index
