"""Metrics for Prometheus: counted at the end of each exchange, added up over all workers.

What every exchange needs is found by two look-ups; the rest is a write to shared memory for each
number. What has to be asked for (pools, breakers, the ledger's lag) is read once a second.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gevent
from prometheus_client import generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from engine.exchange import Account, Exchange
from engine.telemetry import names
from engine.telemetry.cells import Cell, Cells, Distribution
from engine.telemetry.folder import Slot, bury_the_dead
from engine.telemetry.genai import operation_name, provider_name
from engine.telemetry.names import Metric, Read

log = logging.getLogger("modelway")

_Collector: Any = MultiProcessCollector

EVERY = 1.0
"""Seconds between two readings."""
_CODES = frozenset({*range(1000, 1004), *range(1005, 1016)})


class Metrics:
    """The metrics of one worker: an observer, and the page with those of all of them.

    Make it after the fork, with the folder that the master's workers share. `readings` are asked
    for what nobody tells.
    """

    def __init__(self, folder: Path, currency: str = "", readings: Sequence[Read] = ()) -> None:
        self._readings = readings
        self._slot = Slot(folder)
        self._cells = Cells(folder, self._slot.number)
        self._currency = currency
        self._known: dict[tuple[Any, ...], Any] = {}
        self._read: dict[tuple[Metric, tuple[str, ...]], float] = {}
        self._greenlet: Any = None

    def start(self) -> None:
        """Take readings in the background from now on."""
        self._greenlet = gevent.spawn(self._run)

    def close(self) -> None:
        """The worker ends: its counters stay, it itself no longer counts as there."""
        if self._greenlet is not None:
            self._greenlet.kill(block=False)
        self.refresh()
        self._cells.close()
        self._slot.close()

    def page(self) -> bytes:
        """The text that Prometheus reads. Runs in a thread, so that requests go on."""
        self.refresh()
        text: bytes = gevent.get_hub().threadpool.apply(_page, (self._slot.folder,))
        return text

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
        cell = self._cell(metric, *labels)
        if metric.kind == "gauge":
            cell.set(value)
            return
        key = (metric, labels)
        if more := value - self._read.get(key, 0.0):
            self._read[key] = value
            cell.add(more)

    def __call__(self, exchange: Exchange) -> None:
        """An exchange is over."""
        kept = exchange.account
        operation, asked = exchange.operation, kept.asked
        status = f"{kept.status // 100}xx"
        self._cell(names.REQUESTS, operation, asked, kept.upstream, status, kept.outcome).add()
        self._spread(names.DURATION, operation, asked).observe(kept.duration)
        self._spread(names.OVERHEAD, operation).observe(kept.own)
        if kept.first_byte is not None:
            self._spread(names.FIRST_BYTE, operation, asked, kept.upstream).observe(kept.first_byte)
        if kept.code:
            self._refused(kept, operation)
        if kept.tries:
            self._tried(kept)
        if asked and kept.reached:
            self._used(exchange, kept)
        if kept.uncounted:
            self._cell(names.UNCOUNTED).add()
        if kept.events > 1 and kept.first_byte is not None:
            self._streamed(kept)
        if exchange.traffic is not None:
            self._talked(exchange)

    def _refused(self, kept: Account, operation: str) -> None:
        if kept.status < 500:
            self._cell(names.REFUSALS, operation, kept.code).add()
        if kept.limit:
            self._cell(names.LIMITS, kept.limit).add()

    def _tried(self, kept: Account) -> None:
        for number, one in enumerate(kept.tries):
            self._cell(names.ATTEMPTS, one.upstream, one.failure or "ok").add()
            if number:
                self._cell(names.RETRIES, one.upstream).add()

    def _used(self, exchange: Exchange, kept: Account) -> None:
        """Tokens and money, and what OpenTelemetry's conventions for GenAI ask for."""
        usage, model, upstream = kept.usage, kept.entry or kept.asked, kept.upstream
        kind = operation_name(exchange.operation)
        provider = provider_name(upstream, exchange.dialect.name)
        for name, tokens in (("input", usage.input), ("output", usage.output)):
            if tokens:
                self._cell(names.TOKENS, model, upstream, name).add(tokens)
                self._spread(names.GEN_AI_USAGE, kind, provider, kept.asked, name).observe(tokens)
        if usage.cached:
            self._cell(names.TOKENS, model, upstream, "cached").add(usage.cached)
        if kept.cost:
            self._cell(names.COST, model, upstream, self._currency).add(kept.cost / 1e9)
        error = _error_type(kept)
        self._spread(names.GEN_AI_DURATION, kind, provider, kept.asked, error).observe(
            kept.duration
        )

    def _streamed(self, kept: Account) -> None:
        model, upstream = kept.entry or kept.asked, kept.upstream
        end = kept.told - kept.began if kept.told else kept.duration
        gap = max(0.0, end - (kept.first_byte or 0.0)) / (kept.events - 1)
        self._spread(names.GAP, model, upstream).observe(gap)
        self._spread(names.STALL, model, upstream).observe(kept.longest_gap)

    def _talked(self, exchange: Exchange) -> None:
        traffic, operation = exchange.traffic, exchange.operation
        assert traffic is not None
        self._cell(names.MESSAGES, operation, "in").add(traffic.sent.messages)
        self._cell(names.MESSAGES, operation, "out").add(traffic.received.messages)
        code = str(traffic.code) if traffic.code in _CODES else "other"
        self._cell(names.CLOSES, operation, code).add()

    def _cell(self, metric: Metric, *labels: str) -> Cell:
        key = (metric.name, *labels)
        found: Cell | None = self._known.get(key)
        if found is None:
            found = self._known[key] = self._cells.cell(metric, *labels)
        return found

    def _spread(self, metric: Metric, *labels: str) -> Distribution:
        key = (metric.name, *labels)
        found: Distribution | None = self._known.get(key)
        if found is None:
            found = self._known[key] = self._cells.distribution(metric, *labels)
        return found


def _error_type(kept: Account) -> str:
    if kept.outcome == "complete":
        return ""
    return str(kept.status) if kept.status >= 400 else kept.outcome


def _page(folder: Path) -> bytes:
    bury_the_dead(folder)
    return generate_latest(_Collector(None, str(folder)))
