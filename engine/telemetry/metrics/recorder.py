"""Metrics for Prometheus: counted at the end of each exchange, added up over all workers.

That there was one is with the kernel at once, so that killing the worker loses none; the rest may
wait for 10 ms under load, when much together costs less. What has to be asked for (pools, breakers,
the ledger's lag) is read once a second.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gevent
from gevent.lock import BoundedSemaphore

from engine.exchange.exchange import Exchange
from engine.exchange.record import Attempt, RequestRecord, Traffic
from engine.telemetry.metrics import definitions
from engine.telemetry.metrics.cells import Cell, Cells, Distribution
from engine.telemetry.metrics.folder import Slot, bury_the_dead
from engine.telemetry.metrics.page import Page
from engine.telemetry.metrics.series import MetricSeries
from engine.values.metric import Metric, Read

log = logging.getLogger("modelway")

EVERY = 1.0
"""Seconds between two readings."""
_CODES = frozenset({*range(1000, 1004), *range(1005, 1016)})


class Metrics:
    """The metrics of one worker: an observer, and the page with those of all of them.

    Make it after the fork, with the folder that the master's workers share. `readings` are asked
    for what nobody tells; `flush` hands over what `note` was not told yet.
    """

    def __init__(
        self,
        folder: Path,
        currency: str = "",
        readings: Sequence[Read] = (),
        flush: Callable[[], None] = lambda: None,
    ) -> None:
        self._readings = readings
        self._slot = Slot(folder)
        self._page = Page()
        self._asked = BoundedSemaphore()
        self._cells = Cells(folder, self._slot.number)
        self.currency = currency
        self._ways: dict[tuple[str, ...], MetricSeries] = {}
        self._known: dict[tuple[Any, ...], Any] = {}
        self._read: dict[tuple[Metric, tuple[str, ...]], float] = {}
        self._greenlet: Any = None
        self._flush = flush

    def start(self) -> None:
        """Take readings in the background from now on."""
        self._greenlet = gevent.spawn(self._run)

    def close(self) -> None:
        """The worker ends: its counters stay, it itself no longer counts as there."""
        if self._greenlet is not None:
            self._greenlet.kill(block=False)
        self._flush()
        self.refresh()
        self._cells.close()
        self._slot.close()

    def page(self) -> bytes:
        """The text that Prometheus reads. Runs in a thread, so that requests go on."""
        self._flush()
        self.refresh()
        with self._asked:
            text: bytes = gevent.get_hub().threadpool.apply(self._text)
        return text

    def _text(self) -> bytes:
        bury_the_dead(self._slot.folder)
        return self._page.text(self._slot.folder)

    def refresh(self) -> None:
        """Take the readings now. One that fails is logged, and the others are taken."""
        for read in self._readings:
            try:
                for metric, labels, value in read():
                    self._take(metric, labels, value)
            except Exception:
                log.exception("a metric cannot be read")

    def _run(self) -> None:
        while True:
            self.refresh()
            gevent.sleep(EVERY)

    def _take(self, metric: Metric, labels: tuple[str, ...], value: float) -> None:
        cell = self.cell(metric, *labels)
        if metric.kind == "gauge":
            cell.set(value)
            return
        key = (metric, labels)
        if more := value - self._read.get(key, 0.0):
            self._read[key] = value
            cell.add(more)

    def __call__(self, exchange: Exchange) -> None:
        """An exchange is over: count it."""
        self._way(exchange).count(exchange.record)

    def note(self, exchanges: Sequence[Exchange]) -> None:
        """What else there is to tell of exchanges that are over, together."""
        every: dict[MetricSeries, list[Exchange]] = {}
        for exchange in exchanges:
            kept = exchange.record
            every.setdefault(self._way(exchange), []).append(exchange)
            if kept.code:
                self._refused(kept, exchange.operation)
            if kept.uncounted:
                self.cell(definitions.UNCOUNTED).add()
            if exchange.traffic is not None:
                self._talked(exchange.traffic, exchange.operation)
        for way, together in every.items():
            self._note(way, together)

    def _note(self, way: MetricSeries, exchanges: Sequence[Exchange]) -> None:
        """Note those that went one way; one that cannot be noted costs no other."""
        accounts = [exchange.record for exchange in exchanges]
        try:
            writes = way.note(accounts)
        except Exception:
            if len(exchanges) == 1:
                log.exception("request %s: its end was not counted", exchanges[0].request_id)
                return
            for each in exchanges:
                self._note(way, [each])
            return
        for add, what in writes:
            add(what)
        harder = [kept.attempts for kept in accounts if not _at_once(kept.attempts)]
        if len(harder) < len(accounts):
            way.tried(len(accounts) - len(harder))
        for tries in harder:
            self._tried(tries)

    def _way(self, exchange: Exchange) -> MetricSeries:
        kept = exchange.record
        key = (exchange.operation, kept.requested_entry, kept.upstream, kept.served_entry)
        way = self._ways.get(key)
        if way is None:
            way = self._ways[key] = MetricSeries(self, exchange)
        return way

    def _tried(self, tries: Sequence[Attempt]) -> None:
        for number, one in enumerate(tries):
            self.cell(definitions.ATTEMPTS, one.upstream, one.failure or "ok").add()
            if number:
                self.cell(definitions.RETRIES, one.upstream).add()

    def _refused(self, kept: RequestRecord, operation: str) -> None:
        if kept.status < 500:
            self.cell(definitions.REFUSALS, operation, kept.code).add()
        if kept.limit:
            self.cell(definitions.LIMITS, kept.limit).add()

    def _talked(self, traffic: Traffic, operation: str) -> None:
        self.cell(definitions.MESSAGES, operation, "in").add(traffic.sent.messages)
        self.cell(definitions.MESSAGES, operation, "out").add(traffic.received.messages)
        code = str(traffic.code) if traffic.code in _CODES else "other"
        self.cell(definitions.CLOSES, operation, code).add()

    def cell(self, metric: Metric, *labels: str) -> Cell:
        """The cell of a counter or gauge for these values of its labels."""
        key = (metric.name, *labels)
        found: Cell | None = self._known.get(key)
        if found is None:
            found = self._known[key] = self._cells.cell(metric, *labels)
        return found

    def spread(self, metric: Metric, *labels: str) -> Distribution:
        """The buckets of a histogram for these values of its labels."""
        key = (metric.name, *labels)
        found: Distribution | None = self._known.get(key)
        if found is None:
            found = self._known[key] = self._cells.distribution(metric, *labels)
        return found


def _at_once(tries: Sequence[Attempt]) -> bool:
    """Whether the first upstream that was asked answered well."""
    return len(tries) == 1 and not tries[0].failure
