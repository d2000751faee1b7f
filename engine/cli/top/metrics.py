"""The metrics of a running gateway: read from its `/metrics`, and compared over time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field
from prometheus_client.parser import text_string_to_metric_families

from engine.upstream.client.client import Client
from engine.upstream.client.deadlines import Timeouts
from engine.upstream.client.failures import UpstreamFailure
from engine.values.listen_address import ListenAddress

_TIMEOUT = 5.0
_PREFIX = "modelway_"

Labels = Mapping[str, str]
Samples = Mapping[str, Sequence[tuple[Labels, float]]]
"""The samples of each metric: their labels and values."""
Selector = Callable[[Labels], bool]


class MetricsUnavailable(Exception):
    """The metrics cannot be read; `str` says why, and what to do."""


class Snapshot(Struct, frozen=True):
    """The metrics at a time, in seconds on the monotonic clock."""

    time: float = 0.0
    samples: Samples = field(default_factory=dict)


class MetricsSource:
    """The metrics at a URL. Raises MetricsUnavailable for an invalid URL."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.url = url
        self._clock = clock
        try:
            # The proxy of the environment is not used: it is for remote hosts.
            self._client = Client(
                url, timeouts=Timeouts(*[_TIMEOUT] * 4), pool_size=1, proxy="", environ={}
            )
        except ValueError as error:
            message = f"{url}: {error}".replace("an upstream", "a gateway")
            raise MetricsUnavailable(message) from error
        self._path = self._client.base_path or "/metrics"

    def read(self) -> Snapshot:
        """The metrics now. Raises MetricsUnavailable."""
        status, body = self._get()
        if status == 403:
            raise MetricsUnavailable(
                f"{self.url} refuses its metrics to this machine (403): "
                "add its address to telemetry.allow_ips of the gateway"
            )
        if status != 200:
            raise MetricsUnavailable(
                f"there are no metrics at {self.url} ({status}): it is not Modelway, or its "
                "metrics have another address (telemetry.listen) or path (telemetry.metrics)"
            )
        try:
            samples = parse_samples(body.decode("utf-8", "replace"))
        except ValueError:
            samples = {}
        if not samples:
            raise MetricsUnavailable(
                f"{self.url} has no metrics of Modelway: it is another program"
            )
        return Snapshot(self._clock(), samples)

    def _get(self) -> tuple[int, bytes]:
        try:
            response = self._client.send("GET", self._path, [("accept", "text/plain")], None)
            body = b""
            try:
                while data := response.read():
                    body += data
            finally:
                response.close()
        except UpstreamFailure as failure:
            reason = failure.message.replace("the upstream", "it")
            raise MetricsUnavailable(
                f"cannot reach {self.url}; is the gateway running? ({reason})"
            ) from failure
        return response.status, body


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


def metrics_url(listen: str, path: str) -> str:
    """The URL of the metrics of a gateway on this machine that listens on this address."""
    if listen.startswith("unix:"):
        socket = listen.removeprefix("unix:").replace("/", "%2F")
        return f"http+unix://{socket}{path}"
    return f"{ListenAddress.parse(listen).url}{path}"


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
