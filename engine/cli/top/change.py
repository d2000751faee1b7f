"""What happened between two looks at the metrics: rates, sums and quantiles."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

Labels = Mapping[str, str]
Samples = Mapping[str, Sequence[tuple[Labels, float]]]
"""The samples of each metric: their labels and their values."""
Which = Callable[[Labels], bool]


@dataclass(frozen=True, slots=True)
class Look:
    """What the metrics said, and when, in seconds on the steady clock."""

    at: float = 0.0
    samples: Samples = field(default_factory=dict)


class Change:
    """What became of the metrics from one look to the next. A counter that is smaller than it was
    began anew: the gateway was restarted."""

    def __init__(self, before: Look, now: Look) -> None:
        self._now = now.samples
        self._was = {
            name: {_key(labels): value for labels, value in samples}
            for name, samples in before.samples.items()
        }
        self.seconds = max(now.at - before.at, 1e-9)

    def rate(self, name: str, which: Which | None = None) -> float:
        """By how much the counters of a name grew, a second."""
        return sum(more for _, more in self._grown(name, which)) / self.seconds

    def rates(self, name: str, label: str, which: Which | None = None) -> dict[str, float]:
        """The same for each value of a label; those that did not grow as well."""
        found: dict[str, float] = {}
        for labels, more in self._grown(name, which):
            key = labels.get(label, "")
            found[key] = found.get(key, 0.0) + more / self.seconds
        return found

    def gauge(self, name: str, which: Which | None = None) -> float | None:
        """The sum of the gauges of a name now; None where there are none."""
        values = [v for labels, v in self._now.get(name, ()) if which is None or which(labels)]
        return sum(values) if values else None

    def gauges(self, name: str) -> Sequence[tuple[Labels, float]]:
        """The gauges of a name now, with their labels."""
        return self._now.get(name, ())

    def quantiles(
        self, name: str, shares: Sequence[float], which: Which | None = None
    ) -> list[float | None]:
        """Quantiles of what a histogram took in, as Prometheus's `histogram_quantile` has them;
        None where it took nothing in."""
        counts: dict[float, float] = {}
        for labels, more in self._grown(f"{name}_bucket", which):
            bound = float(labels["le"])
            counts[bound] = counts.get(bound, 0.0) + more
        buckets = sorted(counts.items())
        return [_quantile(share, buckets) for share in shares]

    def _grown(self, name: str, which: Which | None) -> list[tuple[Labels, float]]:
        was = self._was.get(name, {})
        grown = []
        for labels, value in self._now.get(name, ()):
            if which is None or which(labels):
                before = was.get(_key(labels), 0.0)
                grown.append((labels, value - before if value >= before else value))
        return grown


def _key(labels: Labels) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(labels.items()))


def _quantile(share: float, buckets: Sequence[tuple[float, float]]) -> float | None:
    """`buckets` are bounds with how much is not above each of them."""
    if not buckets or buckets[-1][1] <= 0:
        return None
    rank = share * buckets[-1][1]
    low = below = 0.0
    for bound, count in buckets:
        if count >= rank:
            if math.isinf(bound):
                return low
            return low + (bound - low) * (rank - below) / (count - below)
        low, below = bound, count
    return low
