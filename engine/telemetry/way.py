"""What is counted of the exchanges that went one way, with all that is looked up for it once."""

from __future__ import annotations

from typing import Protocol

from engine.exchange import Account, Exchange
from engine.telemetry import names
from engine.telemetry.cells import Cell, Distribution
from engine.telemetry.genai import operation_name, provider_name
from engine.telemetry.names import Metric


class Book(Protocol):
    """Where numbers are found by their labels."""

    @property
    def currency(self) -> str: ...
    def cell(self, metric: Metric, *labels: str) -> Cell: ...
    def spread(self, metric: Metric, *labels: str) -> Distribution: ...


class Way:
    """What is counted of the exchanges that went one way: of an operation, for a model, to an
    upstream. It is found once for each exchange, and holds what nearly every one needs."""

    __slots__ = (
        *("_duration", "_ends", "_first", "_kind", "_labels", "_metrics", "_own"),
        *("_said", "_spent", "_took", "_used", "_well"),
    )

    def __init__(self, metrics: Book, exchange: Exchange) -> None:
        kept, operation = exchange.account, exchange.operation
        self._metrics = metrics
        self._labels = (operation, kept.asked, kept.upstream)
        self._used = (kept.entry or kept.asked, kept.upstream)
        provider = provider_name(kept.upstream, exchange.dialect.name) if kept.asked else ""
        self._kind = (operation_name(operation), provider, kept.asked)
        self._ends: dict[tuple[int, str], Cell] = {}
        self._said: list[tuple[Cell, Distribution]] | None = None
        self._took: dict[str, Distribution] = {}
        self._spent: Cell | None = None
        self._well: Cell | None = None
        self._first: Distribution | None = None
        self._duration = metrics.spread(names.DURATION, operation, kept.asked)
        self._own = metrics.spread(names.OVERHEAD, operation)

    def count(self, kept: Account) -> None:
        """One of them is over."""
        key = (kept.status // 100, kept.outcome)
        end = self._ends.get(key)
        if end is None:
            labels = (*self._labels, f"{key[0]}xx", kept.outcome)
            end = self._ends[key] = self._metrics.cell(names.REQUESTS, *labels)
        end.add()

    def note(self, kept: Account) -> None:
        """What else there is to tell of it."""
        self._duration.observe(kept.duration)
        self._own.observe(kept.own)
        if kept.first_byte is not None:
            if self._first is None:
                self._first = self._metrics.spread(names.FIRST_BYTE, *self._labels)
            self._first.observe(kept.first_byte)
        if kept.asked and kept.reached:
            self._use(kept)
        if kept.events > 1:
            self._stream(kept)

    def tried(self) -> None:
        """Its upstream was asked once, and answered."""
        if self._well is None:
            self._well = self._metrics.cell(names.ATTEMPTS, self._labels[2], "ok")
        self._well.add()

    def _use(self, kept: Account) -> None:
        """Tokens and money, and what OpenTelemetry's conventions for GenAI ask for."""
        usage, metrics, kind = kept.usage, self._metrics, self._kind
        if usage.input or usage.output:
            said = self._said
            if said is None:
                said = self._said = [
                    (
                        metrics.cell(names.TOKENS, *self._used, name),
                        metrics.spread(names.GEN_AI_USAGE, *kind, name),
                    )
                    for name in ("input", "output")
                ]
            for tokens, (total, spread) in ((usage.input, said[0]), (usage.output, said[1])):
                if tokens:
                    total.add(tokens)
                    spread.observe(tokens)
        if usage.cached:
            metrics.cell(names.TOKENS, *self._used, "cached").add(usage.cached)
        if kept.cost:
            if self._spent is None:
                self._spent = metrics.cell(names.COST, *self._used, metrics.currency)
            self._spent.add(kept.cost / 1e9)
        error = _error_type(kept)
        took = self._took.get(error)
        if took is None:
            took = self._took[error] = metrics.spread(names.GEN_AI_DURATION, *kind, error)
        took.observe(kept.duration)

    def _stream(self, kept: Account) -> None:
        end = kept.told - kept.began if kept.told else kept.duration
        gap = max(0.0, end - (kept.first_byte or 0.0)) / (kept.events - 1)
        self._metrics.spread(names.GAP, *self._used).observe(gap)
        self._metrics.spread(names.STALL, *self._used).observe(kept.longest_gap)


def _error_type(kept: Account) -> str:
    if kept.outcome == "complete":
        return ""
    return str(kept.status) if kept.status >= 400 else kept.outcome
