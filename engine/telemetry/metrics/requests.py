"""Metrics of requests: how many, how long, how they ended, which were refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter

from engine.exchange.record import RequestRecord
from engine.telemetry.metrics.labels import OTHER, SeriesLabels
from engine.telemetry.metrics.storage.cells import Cell, Cells, Distribution
from engine.values.metric import Collector, Sample, counter, gauge, histogram

_SECONDS = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5),
    *(5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0),
)
_OVERHEAD_SECONDS = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005),
    *(0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0),
)

REQUESTS = counter(
    "modelway_requests_total",
    "operation model upstream status outcome",
    "Requests that ended. status is its class (2xx); outcome complete, caller_left, upstream_cut, "
    "shutdown, refused or failed; model the requested one.",
)
DURATION = histogram(
    "modelway_request_duration_seconds",
    "operation model",
    "From a request's head to the last byte of its answer.",
    _SECONDS,
)
FIRST_BYTE = histogram(
    "modelway_time_to_first_byte_seconds",
    "operation model upstream",
    "From a request's head to the first content of its answer.",
    _SECONDS,
)
OVERHEAD = histogram(
    "modelway_gateway_overhead_seconds",
    "operation",
    "The gateway's share of a request: its duration without waiting for upstream or caller.",
    _OVERHEAD_SECONDS,
)
REFUSALS = counter(
    "modelway_refusals_total",
    "operation code",
    "Requests that the gateway itself refused with a 4xx; code is that of the error.",
)
WOULD_REJECT = counter(
    "modelway_would_reject_total",
    "operation part code",
    "Violations on routes with validate: report, which strict would refuse: part is request or "
    "response, code that of the error. The log has the places.",
)
LIMITS = counter(
    "modelway_limits_hit_total",
    "policy",
    "Requests that a limit refused, by policy name; token for a limit of the token itself.",
)
UNCOUNTED = counter(
    "modelway_counters_away_total",
    "",
    "Requests whose limits the counters' store did not check: stores.on_store_failure decided.",
)
IN_FLIGHT = gauge("modelway_requests_in_flight", "", "Requests in progress.")

_duration = attrgetter("duration")
_code = attrgetter("code")
_limit = attrgetter("limit")
_uncounted = attrgetter("uncounted")


class RequestSeries:
    """The cells of requests with the same labels."""

    def __init__(self, cells: Cells, labels: SeriesLabels) -> None:
        operation, model = labels.operation, labels.model
        self._cells = cells
        self._operation = operation
        self._labels = (operation, model, labels.upstream)
        self._duration = cells.distribution(DURATION, operation, model)
        self._overhead = cells.distribution(OVERHEAD, operation)
        self._results: dict[tuple[int, str], Cell] = {}

    @cached_property
    def _first_byte(self) -> Distribution:
        return self._cells.distribution(FIRST_BYTE, *self._labels)

    def count(self, record: RequestRecord) -> None:
        """Count a finished request, and write the count at once: it survives a killed worker."""
        result = record.status // 100, record.outcome
        cell = self._results.get(result)
        if cell is None:
            labels = (*self._labels, f"{result[0]}xx", record.outcome)
            cell = self._results[result] = self._cells.cell(REQUESTS, *labels)
        cell.value += 1.0
        cell.write()

    def record(self, records: Sequence[RequestRecord], overheads: Sequence[float]) -> None:
        """Record the other metrics of finished requests; `overheads` are the gateway's share of
        each, in seconds."""
        self._duration.observe(*map(_duration, records))
        self._overhead.observe(*overheads)
        first_bytes = [record.first_byte for record in records if record.first_byte is not None]
        if first_bytes:
            self._first_byte.observe(*first_bytes)
        for record in filter(_code, records):
            if record.status < 500:
                self._cells.cell(REFUSALS, self._operation, record.code).add(1.0)
        for policy in filter(None, map(_limit, records)):
            self._cells.cell(LIMITS, policy).add(1.0)
        for _ in filter(_uncounted, records):
            self._cells.cell(UNCOUNTED).add(1.0)


def counted_combinations(cells: Cells) -> set[tuple[str, ...]]:
    """The combinations of operation, model and upstream that an earlier worker has counted."""
    combinations = {labels[:3] for labels in cells.label_values(REQUESTS)}
    return {each for each in combinations if each[0] != OTHER}


def in_flight_collector(count: Callable[[], int]) -> Collector:
    """Requests in progress in this worker."""
    return lambda: [(IN_FLIGHT, (), count())]


def report_collector(counts: Mapping[tuple[str, str, str], int]) -> Collector:
    """Reported violations by operation, part and code."""

    def collect() -> Iterator[Sample]:
        for labels, number in list(counts.items()):
            yield WOULD_REJECT, labels, number

    return collect


def uncounted_collector(count: Callable[[], int]) -> Collector:
    """Requests that were counted locally because the counters' store was unreachable."""
    return lambda: [(UNCOUNTED, (), count())]
