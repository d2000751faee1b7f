"""What is counted of the exchanges that went one way, with all that is looked up for it once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from engine.exchange.exchange import Exchange
from engine.exchange.record import Outcome, RequestRecord
from engine.telemetry.metrics import definitions
from engine.telemetry.metrics.cells import Cell, Distribution
from engine.telemetry.tracing.genai import operation_name, provider_name
from engine.values.metric import Metric

Write = tuple[Callable[[Any], None], Any]
"""Something to add to, and what."""


class Book(Protocol):
    """Where numbers are found by their labels."""

    @property
    def currency(self) -> str: ...
    def cell(self, metric: Metric, *labels: str) -> Cell: ...
    def spread(self, metric: Metric, *labels: str) -> Distribution: ...


class MetricSeries:
    """What is counted of the exchanges that went one way: of an operation, for a model, to an
    upstream. It is found once for each exchange, and holds what nearly every one needs."""

    __slots__ = (
        *("_duration", "_ends", "_first", "_kind", "_labels", "_metrics", "_own"),
        *("_said", "_spent", "_took", "_used", "_well"),
    )

    def __init__(self, metrics: Book, exchange: Exchange) -> None:
        kept, operation = exchange.record, exchange.operation
        self._metrics = metrics
        self._labels = (operation, kept.requested_entry, kept.upstream)
        self._used = (kept.served_entry or kept.requested_entry, kept.upstream)
        provider = (
            provider_name(kept.upstream, exchange.dialect.name) if kept.requested_entry else ""
        )
        self._kind = (operation_name(operation), provider, kept.requested_entry)
        self._ends: dict[tuple[int, str], Cell] = {}
        self._said: dict[str, tuple[Cell, Distribution]] = {}
        self._took: dict[str, Distribution] = {}
        self._spent: Cell | None = None
        self._well: Cell | None = None
        self._first: Distribution | None = None
        self._duration = metrics.spread(definitions.DURATION, operation, kept.requested_entry)
        self._own = metrics.spread(definitions.OVERHEAD, operation)

    def count(self, kept: RequestRecord) -> None:
        """One of them is over."""
        key = (kept.status // 100, kept.outcome)
        end = self._ends.get(key)
        if end is None:
            labels = (*self._labels, f"{key[0]}xx", kept.outcome)
            end = self._ends[key] = self._metrics.cell(definitions.REQUESTS, *labels)
        end.add()

    def note(self, every: Sequence[RequestRecord]) -> list[Write]:
        """What else there is to tell of those that are over. Writes nothing itself, so that one
        that cannot be read leaves nothing half told."""
        first = [kept.first_byte for kept in every if kept.first_byte is not None]
        served = [kept for kept in every if kept.requested_entry and kept.reached_upstream]
        streams = [kept for kept in every if kept.events > 1]
        writes = [
            _spread(self._duration, [kept.duration for kept in every]),
            _spread(self._own, [kept.gateway_time for kept in every]),
        ]
        if first:
            if self._first is None:
                self._first = self._metrics.spread(definitions.FIRST_BYTE, *self._labels)
            writes.append(_spread(self._first, first))
        if served:
            writes += self._use(served)
        if streams:
            gap = self._metrics.spread(definitions.GAP, *self._used)
            stall = self._metrics.spread(definitions.STALL, *self._used)
            writes.append(_spread(gap, [_gap(kept) for kept in streams]))
            writes.append(_spread(stall, [kept.longest_gap for kept in streams]))
        return writes

    def tried(self, times: int) -> None:
        """Its upstream was asked once for each of so many, and answered."""
        if self._well is None:
            self._well = self._metrics.cell(definitions.ATTEMPTS, self._labels[2], "ok")
        self._well.add(times)

    def _use(self, served: Sequence[RequestRecord]) -> Iterator[Write]:
        """Tokens and money, and what OpenTelemetry's conventions for GenAI ask for."""
        metrics, used = self._metrics, [kept.usage for kept in served]
        yield from self._say("input", [usage.input for usage in used if usage.input])
        yield from self._say("output", [usage.output for usage in used if usage.output])
        if cached := sum([usage.cached for usage in used]):
            yield metrics.cell(definitions.TOKENS, *self._used, "cached").add, cached
        if cost := sum([kept.cost for kept in served]):
            if self._spent is None:
                self._spent = metrics.cell(definitions.COST, *self._used, metrics.currency)
            yield self._spent.add, cost / 1e9
        took: dict[str, list[float]] = {}
        for kept in served:
            took.setdefault(_error_type(kept), []).append(kept.duration)
        for error, durations in took.items():
            if error not in self._took:
                self._took[error] = metrics.spread(definitions.GEN_AI_DURATION, *self._kind, error)
            yield _spread(self._took[error], durations)

    def _say(self, kind: str, tokens: Sequence[int]) -> Sequence[Write]:
        if not tokens:
            return ()
        if kind not in self._said:
            self._said[kind] = (
                self._metrics.cell(definitions.TOKENS, *self._used, kind),
                self._metrics.spread(definitions.GEN_AI_USAGE, *self._kind, kind),
            )
        total, spread = self._said[kind]
        return (total.add, sum(tokens)), _spread(spread, tokens)


def _spread(spread: Distribution, values: Sequence[float]) -> Write:
    return spread.add, spread.tally(values)


def _gap(kept: RequestRecord) -> float:
    """The mean time between two events of a stream."""
    end = kept.response_end - kept.start if kept.response_end else kept.duration
    return max(0.0, end - (kept.first_byte or 0.0)) / (kept.events - 1)


def _error_type(kept: RequestRecord) -> str:
    if kept.outcome == Outcome.COMPLETE:
        return ""
    return str(kept.status) if kept.status >= 400 else kept.outcome
