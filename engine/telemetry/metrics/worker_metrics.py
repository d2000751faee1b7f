"""The metrics of a worker: counts each request when it ends, and collects gauges.

The number of requests is written before the last byte of a response is sent, so that killing the
worker loses none. The other metrics of a request are written afterwards, so that no caller waits
for them. Gauges (connections, breakers, the ledger's lag) are sampled once a second.
"""

from __future__ import annotations

import logging
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from pathlib import Path

import gevent
from gevent.lock import BoundedSemaphore

from engine.exchange.exchange import Exchange
from engine.exchange.request_record import RequestRecord
from engine.telemetry.metrics.labels import SeriesLabels, SeriesRoom, labels_of
from engine.telemetry.metrics.mcp import MessageCounter
from engine.telemetry.metrics.process import watch_loop
from engine.telemetry.metrics.requests import (
    RequestSeries,
    RequestTables,
    counted_combinations,
    record_attempts,
    record_retries,
)
from engine.telemetry.metrics.storage.folder import Slot, remove_dead_gauges
from engine.telemetry.metrics.storage.metric_file import UNCOUNTED
from engine.telemetry.metrics.storage.page import MetricsPage
from engine.telemetry.metrics.storage.tables import Numbers
from engine.telemetry.metrics.storage.worker_numbers import WorkerNumbers
from engine.telemetry.metrics.streams import record_session, record_stream
from engine.telemetry.metrics.teams_and_tags import ReadTags, TagRecorder, TeamRecorder
from engine.telemetry.metrics.usage import UsageTables
from engine.values.metric import Collector

log = logging.getLogger("modelway")

INTERVAL = 1.0
"""Seconds between two samples of the gauges."""
_PAUSE = 50
"""The pause between two, as a multiple of the time that the last one took, if that is more: a
worker that has used thousands of targets takes them less often."""
_MAX_PAUSE = 10.0
_RETRY_INTERVAL = 10.0
"""Seconds after which series for which the file system had no room are tried again."""
_AT_ONCE = 500
"""The samples after which requests continue."""
_attempts = attrgetter("record.attempts")


class _Series:
    """The metrics of requests with the same labels."""

    __slots__ = ("labels", "requests", "usage")

    def __init__(
        self, request_tables: RequestTables, usage_tables: UsageTables, labels: SeriesLabels
    ) -> None:
        self.labels = labels
        self.requests = RequestSeries(request_tables, labels)
        self.usage = usage_tables.series(labels)


class WorkerMetrics:
    """Records the metrics of one worker, and renders the page with those of all workers.

    Create it after the fork, with the folder that the master's workers share. `collectors` are
    sampled at intervals; `flush` passes on the requests that still wait to be recorded. Requests
    have at most `max_series` combinations of labels, see `SeriesRoom`. `read_tags` gives the tags
    that have metrics, `usage_tables` has the names of OpenTelemetry's conventions.
    """

    def __init__(
        self,
        folder: Path,
        currency: str = "",
        collectors: Sequence[Collector] = (),
        flush: Callable[[], None] = lambda: None,
        *,
        max_series: int = sys.maxsize,
        read_tags: ReadTags | None = None,
        usage_tables: type[UsageTables] = UsageTables,
    ) -> None:
        self._collectors = collectors
        self._currency = currency
        self._flush = flush
        self._slot = Slot(folder)
        self._worker_numbers = WorkerNumbers(folder, self._slot.number)
        self._page = MetricsPage()
        self._page_lock = BoundedSemaphore()
        self._collect_lock = BoundedSemaphore()
        self._series: dict[tuple[object, ...], _Series] = {}
        self._room = SeriesRoom(max_series, counted_combinations(self._worker_numbers))
        self._tables = RequestTables(self._worker_numbers), usage_tables(self._worker_numbers)
        self._sharers: list[TeamRecorder | TagRecorder] = [
            TeamRecorder(self._worker_numbers, currency, max_series)
        ]
        if read_tags is not None:
            self._sharers.append(TagRecorder(self._worker_numbers, currency, read_tags, max_series))
        self._pending = _pending()
        self._messages = MessageCounter(self._worker_numbers)
        self._totals: dict[int, float] = {}
        self._max_series = max_series
        self._next_retry = 0.0
        self._greenlets: list[gevent.Greenlet[..., None]] = []

    def start(self, *, watches_loop: bool = True) -> None:
        """Sample the gauges, and watch the event loop for which requests would wait, in the
        background from now on."""
        self._greenlets = [gevent.spawn(self._run)]
        if watches_loop:
            self._greenlets.append(gevent.spawn(watch_loop, self._worker_numbers))

    def close(self) -> None:
        """The worker ends: its counters remain, its gauges do not."""
        gevent.killall(self._greenlets)
        self.collect()
        self._flush()  # requests may have ended meanwhile
        self._worker_numbers.close()
        self._slot.close()

    def __call__(self, exchange: Exchange) -> None:
        """Count a finished exchange, and collect its other metrics for `record`. If that fails for
        one exchange, it is logged, and the others are not affected."""
        series, record = self._series_of(exchange), exchange.record
        series.requests.count(record)
        try:
            gateway_time = record.gateway_time
            self._pending[series].append((record, gateway_time))
            if len(record.attempts) > 1:
                record_retries(self._worker_numbers, record.attempts)
            if record.events > 1:
                record_stream(self._worker_numbers, series.labels, record)
            if record.traffic is not None:
                record_session(self._worker_numbers, series.labels.operation, record.traffic)
            if record.mcp is not None:
                self._messages.count(record.mcp, record.status)
        except Exception:
            log.exception("request %s: its metrics are lost", exchange.request_id)

    def record(self, exchanges: Sequence[Exchange]) -> None:
        """Record the collected metrics, and the attempts, teams and tags of these exchanges."""
        pending, self._pending = self._pending, _pending()
        for series, finished in pending.items():
            try:
                records, overheads = zip(*finished, strict=True)
                series.requests.record(records, overheads)
                series.usage.record(records)
            except Exception:
                log.exception("metrics of requests for %s are lost", series.labels.operation)
        self._messages.record()
        record_attempts(self._worker_numbers, chain.from_iterable(map(_attempts, exchanges)))
        for sharer in self._sharers:
            sharer.record(exchanges)

    def page(self) -> bytes:
        """The text that Prometheus scrapes. A thread renders it, so that requests continue."""
        self._flush()
        self.collect()
        with self._page_lock:
            text: bytes = gevent.get_hub().threadpool.apply(self._render)
        return text

    def collect(self) -> float:
        """Sample all gauges now, and return the seconds that it took. Gauges without a sample are
        removed: their address, or target, is gone. A collector that fails is logged; the others are
        sampled, and nothing is removed."""
        with self._collect_lock:
            return self._collect()

    def _collect(self) -> float:
        seconds, start = 0.0, time.monotonic()
        sampled: defaultdict[Numbers, set[int]] = defaultdict(set)
        failed = False
        for collector in self._collectors:
            try:
                for number, (metric, labels, value) in enumerate(collector(), 1):
                    numbers = self._worker_numbers.numbers(metric)
                    if (place := self._sample(numbers, labels, value)) != UNCOUNTED:
                        sampled[numbers].add(place)
                    if number % _AT_ONCE == 0:
                        seconds += time.monotonic() - start
                        gevent.sleep(0)
                        start = time.monotonic()
            except Exception:
                failed = True
                log.exception("a metric cannot be collected")
        if not failed:
            self._worker_numbers.keep_gauges(sampled)
            self._forget_totals(sampled)
        return seconds + time.monotonic() - start

    def retry(self, now: float) -> None:
        """Try series without room in the file system again, at most once in `_RETRY_INTERVAL`."""
        if now >= self._next_retry:
            self._next_retry = now + _RETRY_INTERVAL
            if self._worker_numbers.retry():
                self._series.clear()  # which keep the places of their numbers

    def _series_of(self, exchange: Exchange) -> _Series:
        record = exchange.record
        key = (exchange.operation, record.requested_entry, record.upstream, record.served_entry)
        series = self._series.get(key)
        if series is None:
            labels = labels_of(exchange, self._currency)
            if self._room.take(labels):
                series = self._series[key] = _Series(*self._tables, labels)
            else:
                series = self._series_of_others(labels.others(exchange.dialect))
        return series

    def _series_of_others(self, labels: SeriesLabels) -> _Series:
        if labels not in self._series:
            self._series[labels] = _Series(*self._tables, labels)
        return self._series[labels]

    def _render(self) -> bytes:
        remove_dead_gauges(self._slot.folder)
        return self._page.text(self._slot.folder)

    def _run(self) -> None:
        while True:
            gevent.sleep(max(INTERVAL, min(_MAX_PAUSE, _PAUSE * self.collect())))
            self.retry(time.monotonic())

    def _sample(self, numbers: Numbers, labels: tuple[str, ...], value: float) -> int:
        """Record a sample; its place, UNCOUNTED if it has none."""
        metric = numbers.metric
        if metric.kind == "gauge":
            has_room = labels in numbers or len(numbers) < self._max_series
            if not has_room and not (value and metric.is_fault):
                return UNCOUNTED
            place = numbers.place(labels)
            numbers.set(place, value)
        elif (place := numbers.place(labels)) != UNCOUNTED:  # else added as soon as there is room
            total = self._totals.get(place, 0.0)
            self._totals[place] = value
            numbers.add(place, value - total if value >= total else value)
        return place

    def _forget_totals(self, sampled: Mapping[Numbers, set[int]]) -> None:
        """Forget the totals of counters without a sample: if they return, they begin at 0."""
        counters = [places for numbers, places in sampled.items() if numbers.metric.kind != "gauge"]
        if sum(map(len, counters)) < len(self._totals):
            self._totals = {place: self._totals[place] for place in chain.from_iterable(counters)}


def _pending() -> defaultdict[_Series, list[tuple[RequestRecord, float]]]:
    """For each series its finished requests, and the gateway's share of each in seconds."""
    return defaultdict(list)
