"""Messages of MCP by server, method, revision and status."""

from __future__ import annotations

from engine.exchange.request_record import McpMessage
from tests.support.recording_metrics import finished_exchange, record_all, values


def test_messages_are_counted_by_the_revision_in_which_they_were_answered(metrics):
    for revision, status in (("2026-07-28", 200), ("2026-07-28", 404), ("2025-11-25", 200)):
        exchange = finished_exchange(status)
        exchange.record.mcp = McpMessage("shop", "tools/call", "show", revision, "agent/1")
        record_all(metrics, exchange)
    record_all(metrics, finished_exchange())
    counted = values(metrics, "modelway_mcp_messages_total")
    assert {tuple(labels): count for labels, count in counted.items()} == {
        ("tools/call", "2026-07-28", "shop", "2xx"): 1.0,
        ("tools/call", "2026-07-28", "shop", "4xx"): 1.0,
        ("tools/call", "2025-11-25", "shop", "2xx"): 1.0,
    }


def test_equal_messages_that_are_recorded_together_are_counted_each(metrics):
    exchanges = [finished_exchange() for _ in range(3)]
    for exchange in exchanges:
        exchange.record.mcp = McpMessage("shop", "ping", "", "2025-11-25", "agent/1")
    record_all(metrics, *exchanges)
    assert [*values(metrics, "modelway_mcp_messages_total").values()] == [3.0]
