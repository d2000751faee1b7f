"""The gates of an upstream and of its targets, built from the config, and their metrics: slots, and
requests that wait for one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from engine.config.upstreams import UpstreamConfig
from engine.upstream.admission.gate import Gate, GateConfig
from engine.values.admission import AdmissionQueues
from engine.values.metric import Collector, Sample, counter, gauge, target_label

IN_FLIGHT = gauge(
    "modelway_queue_in_flight",
    "upstream target",
    "Requests that hold a slot at an upstream with max_in_flight, of all workers of the machine. "
    "target is `entry/model` as in modelway_breaker_state, for all its addresses together; the "
    "upstream's name for a target of a route, and empty for the bound of the upstream itself.",
    "livemax",
)
BOUND = gauge("modelway_queue_max_in_flight", "upstream target", "max_in_flight.", "livemax")
WAITING = gauge(
    "modelway_queue_waiting",
    "upstream target",
    "Requests that wait for a slot, of all workers of the machine.",
    "livemax",
)
WAITS = counter(
    "modelway_queue_waits_total",
    "upstream target result",
    "Requests that found no free slot: admitted (after a wait), full (no room in the queue), shed "
    "(for one of higher priority) or timeout.",
)
SECONDS = counter(
    "modelway_queue_wait_seconds_total", "upstream target", "Seconds that requests waited."
)


class Gates:
    """Makes the gates of one upstream in one worker; none without `queues`, as in a rehearsal.

    `all` are the gates made so far. Each has the size and the wait time of the upstream's `queue`.
    """

    def __init__(self, config: UpstreamConfig, queues: AdmissionQueues | None) -> None:
        self.all: list[Gate] = []
        self._name, self._queue, self._queues = config.name, config.queue, queues
        self._shared = self._gates(f"upstream/{config.name}", "", config.max_in_flight)

    def of_target(
        self, model: str, entry: str, bound: int | None, configured: str = ""
    ) -> tuple[Gate, ...]:
        """The gates of a target, its own bound first, for an `entry` under `models`; `model` is the
        upstream's name for the model, `configured` the one in the config. Targets that share the
        first three share their slots."""
        key = f"target/{entry}/{self._name}/{model}" if model else f"target/{entry}/{self._name}"
        # Empty is the bound of the upstream itself.
        label = target_label((entry, configured)) or self._name
        return (*self._gates(key, label, bound), *self._shared)

    def _gates(self, key: str, target: str, bound: int | None) -> tuple[Gate, ...]:
        if bound is None or self._queues is None:
            return ()
        config = GateConfig(bound)
        if self._queue is not None:
            config = GateConfig(bound, self._queue.size, self._queue.wait)
        gate = Gate(self._name, target, config, self._queues.queue(key))
        self.all.append(gate)
        return (gate,)


def gates_of(upstreams: Iterable[Gates | None]) -> list[Gate]:
    """The gates of several upstreams."""
    return [gate for gates in upstreams if gates is not None for gate in gates.all]


def queue_collector(gates: Callable[[], Iterable[Gate]]) -> Collector:
    """The slots of each gate, and the results of waits. Gates with the same labels are one sample,
    that of the fullest."""

    def collect() -> Iterator[Sample]:
        for labels, group in _by_labels(gates()).items():
            figures = [gate.figures() for gate in group]
            yield IN_FLIGHT, labels, max(figure.in_flight for figure in figures)
            yield WAITING, labels, max(figure.waiting for figure in figures)
            yield BOUND, labels, max(gate.bound for gate in group)
            yield SECONDS, labels, sum(gate.waited for gate in group)
            for result in group[0].results:
                yield WAITS, (*labels, result), sum(gate.results[result] for gate in group)

    return collect


def _by_labels(gates: Iterable[Gate]) -> Mapping[tuple[str, ...], list[Gate]]:
    groups: dict[tuple[str, ...], list[Gate]] = {}
    for gate in gates:
        groups.setdefault((gate.upstream, gate.target), []).append(gate)
    return groups
