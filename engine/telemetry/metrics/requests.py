"""Metrics of requests: how many, how long, how they ended, which were refused; and of their
attempts at upstreams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

from engine.exchange.outcome import Outcome
from engine.exchange.request_record import Attempt, RequestRecord
from engine.telemetry.metrics.labels import OTHER, SeriesLabels
from engine.telemetry.metrics.storage.worker_numbers import WorkerNumbers
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
    "shutdown, revoked, refused or failed; model the requested one.",
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

_COMPLETE = Outcome.COMPLETE  # looking up a member of an enum is slow
_duration = attrgetter("duration")
_code = attrgetter("code")
_limit = attrgetter("limit")
_uncounted = attrgetter("uncounted")
ATTEMPTS = counter(
    "modelway_upstream_attempts_total",
    "upstream result",
    "Attempts. result is ok or the class of the failure: connect, reset, 408, 429, 5xx, error, "
    "credential, fatal, also of one whose answer broke off; cancelled if another attempt of a "
    "hedged request was faster.",
)
RETRIES = counter(
    "modelway_upstream_retries_total", "upstream", "Attempts that were not a request's first."
)
_result = attrgetter("upstream", "failure")


class RequestTables:
    """The metrics of a worker's requests."""

    __slots__ = ("duration", "first_byte", "overhead", "requests", "worker_numbers")

    def __init__(self, worker_numbers: WorkerNumbers) -> None:
        self.worker_numbers = worker_numbers
        self.requests = worker_numbers.numbers(REQUESTS)
        self.duration = worker_numbers.histogram(DURATION)
        self.first_byte = worker_numbers.histogram(FIRST_BYTE)
        self.overhead = worker_numbers.histogram(OVERHEAD)


class RequestSeries:
    """The places and rows of requests with the same labels, 0 until something is counted there."""

    __slots__ = ("_completed", "_duration", "_first_byte", "_labels", "_overhead", "_tables")

    def __init__(self, tables: RequestTables, labels: SeriesLabels) -> None:
        operation, model, _ = labels.combination
        self._tables = tables
        self._labels = labels.combination
        self._completed = 0
        self._duration = tables.duration.row((operation, model))
        self._overhead = tables.overhead.row((operation,))
        self._first_byte = 0

    def count(self, record: RequestRecord) -> None:
        """Count a finished request in the file at once: it survives a killed worker."""
        requests = self._tables.requests
        if record.outcome is not _COMPLETE or record.status // 100 != 2:
            place = requests.place(self._result(record))
        elif not (place := self._completed):
            place = self._completed = requests.place(self._result(record))
        requests.add(place, 1.0)

    def record(self, records: Sequence[RequestRecord], overheads: Sequence[float]) -> None:
        """Record the other metrics of finished requests; `overheads` are the gateway's share of
        each, in seconds."""
        tables = self._tables
        tables.duration.observe_all(self._duration, [*map(_duration, records)])
        tables.overhead.observe_all(self._overhead, overheads)
        first_bytes = [record.first_byte for record in records if record.first_byte is not None]
        if first_bytes:
            if not self._first_byte:
                self._first_byte = tables.first_byte.row(self._labels)
            tables.first_byte.observe_all(self._first_byte, first_bytes)
        for record in filter(_code, records):
            if record.status < 500:
                tables.worker_numbers.add(REFUSALS, (self._labels[0], record.code), 1.0)
        for policy in filter(None, map(_limit, records)):
            tables.worker_numbers.add(LIMITS, (policy,), 1.0)
        for _ in filter(_uncounted, records):
            tables.worker_numbers.add(UNCOUNTED, (), 1.0)

    def _result(self, record: RequestRecord) -> tuple[str, ...]:
        return (*self._labels, f"{record.status // 100}xx", record.outcome)


def counted_combinations(worker_numbers: WorkerNumbers) -> set[tuple[str, ...]]:
    """The combinations of operation, model and upstream that an earlier worker has counted."""
    combinations = {labels[:3] for labels in worker_numbers.label_values(REQUESTS)}
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


def record_attempts(worker_numbers: WorkerNumbers, attempts: Iterable[Attempt]) -> None:
    """Record finished attempts."""
    for (upstream, failure), count in Counter(map(_result, attempts)).items():
        worker_numbers.add(ATTEMPTS, (upstream, failure or "ok"), count)


def record_retries(worker_numbers: WorkerNumbers, attempts: Sequence[Attempt]) -> None:
    """Record the attempts of a request after its first one; they may be at several upstreams."""
    for attempt in attempts[1:]:
        worker_numbers.add(RETRIES, (attempt.upstream,), 1.0)
