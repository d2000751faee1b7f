"""Metrics of the health of targets: their states, and how often they were ejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from engine.upstream.health.watched_target import WatchedTarget
from engine.values.metric import Collector, Sample, counter, gauge

HEALTH = gauge(
    "modelway_target_health",
    "upstream target",
    "Health of a target with an alternative, for all workers of the machine: 0 in, 1 returning "
    "slowly, 2 little left of a rate limit (asked after others of its group), 3 limited by a 429 "
    "or Retry-After, 4 ejected, 5 failing its probes. target as in modelway_breaker_state.",
    "livemax",
    is_fault=True,
)
EJECTIONS = counter(
    "modelway_target_ejections_total",
    "upstream target reason",
    "Ejections: of a target with more errors than others, a higher latency, or silence (requests "
    "wait and none is answered). target as in modelway_breaker_state.",
)


def health_collector(
    targets: Callable[[], Iterable[WatchedTarget]], clock: Callable[[], float]
) -> Collector:
    """The states of the targets that this worker uses, and the ejections that it decided.

    The ejections of targets with equal labels are one sample: `a/b` is the entry `a/b` as well as
    the model `b` of the entry `a`."""

    def collect() -> Iterator[Sample]:
        now = clock()
        ejections: Counter[tuple[str, ...]] = Counter()
        for target in targets():
            labels = (target.upstream, target.name)
            yield HEALTH, labels, target.level(now)
            for reason, count in target.ejections.items():
                if count:
                    ejections[*labels, reason] += count
        for labels_of_reason, count in ejections.items():
            yield EJECTIONS, labels_of_reason, count

    return collect
