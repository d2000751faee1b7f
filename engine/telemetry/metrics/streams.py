"""Metrics of streams and WebSocket sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from engine.exchange.exchange import Exchange
from engine.exchange.record import RequestRecord
from engine.telemetry.metrics.cells import Cells
from engine.telemetry.metrics.series import SeriesLabels, Write, increase, observe
from engine.values.metric import Collector, counter, gauge, histogram

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60)
_CLOSE_CODES = frozenset({*range(1000, 1004), *range(1005, 1016)})
"""The codes of RFC 6455, section 7.4.1."""

GAP = histogram(
    "modelway_stream_event_gap_seconds",
    "model upstream",
    "Mean time between the events of a stream; one observation for each stream.",
    _SECONDS,
)
STALL = histogram(
    "modelway_stream_longest_gap_seconds",
    "model upstream",
    "Longest time between two events of a stream; one observation for each stream.",
    _SECONDS,
)
MESSAGES = counter(
    "modelway_websocket_messages_total", "operation direction", "Messages. direction is in or out."
)
CLOSES = counter(
    "modelway_websocket_closes_total",
    "operation code",
    "Sessions that ended, by close code; other is one that is not of RFC 6455.",
)
SESSIONS = gauge("modelway_websocket_sessions_open", "", "WebSockets that are open.")


def writes(cells: Cells, labels: SeriesLabels, exchanges: Sequence[Exchange]) -> Iterator[Write]:
    """The metrics of the streams and sessions among requests that ended."""
    streams = [exchange.record for exchange in exchanges if exchange.record.events > 1]
    if streams:
        target = (labels.served_model, labels.upstream)
        yield observe(cells, GAP, target, [_mean_gap(record) for record in streams])
        yield observe(cells, STALL, target, [record.longest_gap for record in streams])
    for exchange in exchanges:
        traffic, operation = exchange.traffic, exchange.operation
        if traffic is not None:
            yield increase(cells, MESSAGES, (operation, "in"), traffic.sent.messages)
            yield increase(cells, MESSAGES, (operation, "out"), traffic.received.messages)
            code = str(traffic.code) if traffic.code in _CLOSE_CODES else "other"
            yield increase(cells, CLOSES, (operation, code), 1)


def _mean_gap(record: RequestRecord) -> float:
    end = record.response_end - record.start if record.response_end else record.duration
    return max(0.0, end - (record.first_byte or 0.0)) / (record.events - 1)


def session_collector(count: Callable[[], int]) -> Collector:
    """WebSocket sessions that are open in this worker."""
    return lambda: [(SESSIONS, (), count())]
