"""Metrics of upstreams and targets with `max_in_flight`: slots, and requests that wait for one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from engine.upstream.admission.gate import Gate
from engine.values.metric import Collector, Sample, counter, gauge

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
