"""The metrics of a gateway, parsed from their page, and compared over time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field
from prometheus_client.parser import text_string_to_metric_families

_PREFIX = "modelway_"

Labels = Mapping[str, str]
Samples = Mapping[str, Sequence[tuple[Labels, float]]]
"""The samples of each metric: their labels and values."""
Selector = Callable[[Labels], bool]


class Snapshot(Struct, frozen=True):
    """The metrics at a time, in seconds on the monotonic clock."""

    time: float = 0.0
    samples: Samples = field(default_factory=dict)


class MetricsChange:
    """The difference between two snapshots. A counter that is smaller than before was reset: the
    gateway was restarted."""

    def __init__(self, before: Snapshot, now: Snapshot) -> None:
        self._now = now.samples
        self._before = {
            name: {_key(labels): value for labels, value in samples}
            for name, samples in before.samples.items()
        }
        self.seconds = max(now.time - before.time, 1e-9)

    def rate(self, name: str, selector: Selector | None = None) -> float:
        """The increase of the counters of a name per second."""
        return sum(increase for _, increase in self._increases(name, selector)) / self.seconds

    def rates(self, name: str, label: str, selector: Selector | None = None) -> dict[str, float]:
        """The increase per second for each value of a label; 0 for counters that did not grow."""
        rates: dict[str, float] = {}
        for labels, increase in self._increases(name, selector):
            key = labels.get(label, "")
            rates[key] = rates.get(key, 0.0) + increase / self.seconds
        return rates

    def rates_by(self, name: str, labels: Sequence[str]) -> dict[tuple[str, ...], float]:
        """The increase per second for the values of some labels together."""
        rates: dict[tuple[str, ...], float] = {}
        for series, increase in self._increases(name, None):
            key = tuple(series.get(label, "") for label in labels)
            rates[key] = rates.get(key, 0.0) + increase / self.seconds
        return rates

    def totals_by(self, name: str, labels: Sequence[str]) -> dict[tuple[str, ...], float]:
        """The counters of a name now, for the values of some labels together."""
        totals: dict[tuple[str, ...], float] = {}
        for series, value in self._now.get(name, ()):
            key = tuple(series.get(label, "") for label in labels)
            totals[key] = totals.get(key, 0.0) + value
        return totals

    def gauge(self, name: str, selector: Selector | None = None) -> float | None:
        """The sum of the gauges of a name now; None if there are none."""
        gauges = self._now.get(name, ())
        values = [value for labels, value in gauges if selector is None or selector(labels)]
        return sum(values) if values else None

    def gauges(self, name: str) -> Sequence[tuple[Labels, float]]:
        """The gauges of a name now, with their labels."""
        return self._now.get(name, ())

    def quantiles(
        self, name: str, quantiles: Sequence[float], selector: Selector | None = None
    ) -> list[float | None]:
        """Quantiles of a histogram's new observations, computed as Prometheus's
        `histogram_quantile`; None without observations."""
        counts: dict[float, float] = {}
        for labels, increase in self._increases(f"{name}_bucket", selector):
            bound = float(labels["le"])
            counts[bound] = counts.get(bound, 0.0) + increase
        buckets = sorted(counts.items())
        return [_quantile(quantile, buckets) for quantile in quantiles]

    def _increases(self, name: str, selector: Selector | None) -> list[tuple[Labels, float]]:
        before = self._before.get(name, {})
        increases = []
        for labels, value in self._now.get(name, ()):
            if selector is None or selector(labels):
                former = before.get(_key(labels), 0.0)
                increases.append((labels, value - former if value >= former else value))
        return increases


def parse_samples(text: str) -> Samples:
    """Modelway's samples in Prometheus's text format. Raises ValueError for another format."""
    samples: dict[str, list[tuple[Labels, float]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name.startswith(_PREFIX):
                samples.setdefault(sample.name, []).append((sample.labels, sample.value))
    return samples


def _key(labels: Labels) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(labels.items()))


def _quantile(quantile: float, buckets: Sequence[tuple[float, float]]) -> float | None:
    """A quantile of cumulative buckets, which are upper bounds with the number of values up to
    each."""
    if not buckets or buckets[-1][1] <= 0:
        return None
    rank = quantile * buckets[-1][1]
    low = below = 0.0
    for bound, count in buckets:
        if count >= rank:
            if math.isinf(bound):
                return low
            return low + (bound - low) * (rank - below) / (count - below)
        low, below = bound, count
    return low
