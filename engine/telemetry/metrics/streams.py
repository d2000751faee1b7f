"""Metrics of streams and WebSocket sessions."""

from __future__ import annotations

from collections.abc import Callable

from engine.exchange.request_record import RequestRecord, Traffic
from engine.telemetry.metrics.labels import SeriesLabels
from engine.telemetry.metrics.storage.worker_numbers import WorkerNumbers
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
    "Sessions that ended, by close code; other is a code that RFC 6455 does not define.",
)
SESSIONS = gauge("modelway_websocket_sessions_open", "", "WebSockets that are open.")


def record_stream(
    worker_numbers: WorkerNumbers, labels: SeriesLabels, record: RequestRecord
) -> None:
    """Record the gaps of a finished stream of at least two events."""
    target = (labels.served_model, labels.upstream)
    worker_numbers.observe(GAP, target, _mean_gap(record))
    worker_numbers.observe(STALL, target, record.longest_gap)


def record_session(worker_numbers: WorkerNumbers, operation: str, traffic: Traffic) -> None:
    """Record the messages and the close code of a finished session."""
    worker_numbers.add(MESSAGES, (operation, "in"), traffic.sent.messages)
    worker_numbers.add(MESSAGES, (operation, "out"), traffic.received.messages)
    code = str(traffic.code) if traffic.code in _CLOSE_CODES else "other"
    worker_numbers.add(CLOSES, (operation, code), 1.0)


def _mean_gap(record: RequestRecord) -> float:
    end = record.response_end - record.start if record.response_end else record.duration
    return max(0.0, end - (record.first_byte or 0.0)) / (record.events - 1)


def session_collector(count: Callable[[], int]) -> Collector:
    """WebSocket sessions that are open in this worker."""
    return lambda: [(SESSIONS, (), count())]
