"""Gaps of streams; messages and close codes of WebSocket sessions."""

from __future__ import annotations

import pytest

from engine.exchange.request_record import Traffic
from tests.support.recording_metrics import finished_exchange, record_all, values


def test_a_stream_records_its_mean_and_longest_gap(metrics):
    record_all(
        metrics,
        finished_exchange(stream=True, events=11, longest_gap=0.08, response_end=0.0, duration=1.2),
    )
    assert list(values(metrics, "modelway_stream_event_gap_seconds_sum").values()) == [
        pytest.approx(0.1)
    ]
    assert list(values(metrics, "modelway_stream_longest_gap_seconds_sum").values()) == [0.08]


def test_sessions_are_counted_and_unknown_close_codes_share_a_label(metrics):
    for code in (1000, 4999, 4998):
        exchange = finished_exchange(101)
        exchange.record.traffic = Traffic(code=code)
        exchange.record.traffic.sent.messages = 2
        record_all(metrics, exchange)
    assert {k[0]: v for k, v in values(metrics, "modelway_websocket_closes_total").items()} == {
        "1000": 1.0,
        "other": 2.0,
    }
    assert sum(values(metrics, "modelway_websocket_messages_total").values()) == 6.0
