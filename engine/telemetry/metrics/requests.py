"""Metrics of requests: how many, how long, how they ended, which were refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from engine.exchange.exchange import Exchange
from engine.exchange.record import RequestRecord
from engine.telemetry.metrics.cells import Cells
from engine.telemetry.metrics.series import SeriesLabels, Write, increase, observe
from engine.values.metric import Collector, Sample, counter, gauge, histogram

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640)
_OVERHEAD_SECONDS = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005),
    *(0.01, 0.025, 0.05, 0.1, 0.25, 1, 5),
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
    "What strict validation would refuse where a route only reports: part is request or response, "
    "code that of the error. The log has the places.",
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


def count(cells: Cells, labels: SeriesLabels, record: RequestRecord) -> None:
    """Count a request that ended, at once: the count survives a killed worker."""
    status = f"{record.status // 100}xx"
    cells.cell(
        REQUESTS, labels.operation, labels.model, labels.upstream, status, record.outcome
    ).add()


def writes(cells: Cells, labels: SeriesLabels, exchanges: Sequence[Exchange]) -> Iterator[Write]:
    """The other metrics of requests that ended."""
    operation, model = labels.operation, labels.model
    records = [exchange.record for exchange in exchanges]
    yield observe(cells, DURATION, (operation, model), [record.duration for record in records])
    yield observe(cells, OVERHEAD, (operation,), [record.gateway_time for record in records])
    first = [record.first_byte for record in records if record.first_byte is not None]
    if first:
        yield observe(cells, FIRST_BYTE, (operation, model, labels.upstream), first)
    for record in records:
        if record.code and record.status < 500:
            yield increase(cells, REFUSALS, (operation, record.code), 1)
        if record.limit:
            yield increase(cells, LIMITS, (record.limit,), 1)
        if record.uncounted:
            yield increase(cells, UNCOUNTED, (), 1)


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
    """Requests that were counted locally because the counters' store was away."""
    return lambda: [(UNCOUNTED, (), count())]
