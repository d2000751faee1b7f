"""The values of a line of the access log."""

from __future__ import annotations

import pytest

from engine.exchange.request_record import McpMessage, Traffic
from engine.telemetry.access_log_row import timestamp
from engine.values.usage import Usage
from tests.support.access_lines import finished_exchange, lines_of, row


def test_a_translated_attempt_names_its_language():
    exchange = finished_exchange()
    exchange.record.attempts[1] = exchange.record.attempts[1]._replace(language="messages")
    first, second = row(exchange)["attempts"]
    assert ("translated" in first, second["translated"]) == (False, "messages")
    (line,) = lines_of(exchange, text=True)
    assert b"attempts=one/m:connect,two/n:ok:messages " in line


def test_a_line_holds_the_record():
    assert row(finished_exchange(), currency="EUR") == {
        "time": "2023-11-14T22:13:20.250Z",
        "request_id": "req_1",
        "trace_id": None,
        "token": "alice",
        "address": "10.1.2.3",
        "client": "codex/0.171.0",
        "session": "s1",
        "method": "POST",
        "path": "/v1/chat",
        "operation": "openai.chat",
        "model": "gpt",
        "model_served": "gpt-4",
        "upstream": "two",
        "target": "two/n",
        "attempts": [
            {"target": "one/m", "failure": "connect", "status": 0, "seconds": 0.25},
            {"target": "two/n", "failure": "", "status": 200, "seconds": 0.25},
        ],
        "status": 200,
        "outcome": "complete",
        "code": "",
        "limit": "",
        "bytes_in": 0,
        "bytes_out": 0,
        "first_byte": 0.5,
        "duration": 1.0,
        "own": 0.25,
        "stream": False,
        "usage": {"input": 3, "output": 4, "cached": 1, "source": "upstream"},
        "cost": 1.5e-6,
        "currency": "EUR",
    }


def test_counts_that_most_models_do_not_have_follow_in_this_order():
    names = (
        *("reasoning", "images", "seconds", "characters", "cache_write", "cache_write_1h"),
        *("audio_input", "cached_audio", "audio_output"),
        *("image_input", "cached_image", "image_output", "searches"),
    )
    exchange = finished_exchange()
    exchange.record.usage = Usage(**{name: at for at, name in enumerate(names, 1)})
    counts = row(exchange)["usage"]
    assert list(counts) == ["input", "output", "cached", "source", *names]
    assert [counts[name] for name in names] == [*range(1, 14)]


def test_the_target_is_that_of_the_attempt_that_was_not_cancelled():
    exchange = finished_exchange()
    first, second = exchange.record.attempts
    exchange.record.attempts = [first._replace(failure=""), second._replace(failure="cancelled")]
    assert row(exchange)["target"] == "one/m"


def test_a_websocket_session_has_its_traffic():
    traffic = Traffic(seconds=12.5, code=1000)
    traffic.sent.messages, traffic.received.bytes = 3, 99
    assert row(finished_exchange(record={"traffic": traffic}))["websocket"] == {
        "messages_in": 3,
        "messages_out": 0,
        "bytes_in": 0,
        "bytes_out": 99,
        "seconds": 12.5,
        "code": 1000,
    }


def test_a_message_of_mcp_has_its_tool_revision_and_client():
    message = McpMessage("shop", "tools/call", "show", "2026-07-28", "agent/1 mw-" + "a" * 64, 5)
    line = row(finished_exchange(record={"mcp": message}))
    assert line["via"] == "mcp"
    assert line["mcp"] == {
        "server": "shop",
        "method": "tools/call",
        "tool": "show",
        "revision": "2026-07-28",
        "client": line["mcp"]["client"],
    }
    assert "a" * 64 not in line["mcp"]["client"]
    assert "via" not in row(finished_exchange())


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("queue_time", 0.25, {"queue": 0.25}),
        ("is_mirror", True, {"via": "mirror"}),
        ("is_copy", True, {"via": "copy"}),
        ("verdicts", ("request:redact",), {"guard": ["request:redact"]}),
    ],
)
def test_what_few_requests_have_is_written_where_it_stands_alone(name, value, expected):
    exchange = finished_exchange()
    usual = row(exchange)
    setattr(exchange.record, name, value)
    assert {key: item for key, item in row(exchange).items() if key not in usual} == expected


def test_the_vendors_cost_is_written_if_the_team_pays_another():
    exchange = finished_exchange()
    exchange.record.cost, exchange.record.margin = 3_000_000_000, 500_000_000
    assert (row(exchange)["cost"], row(exchange)["vendor_cost"]) == (3.0, 2.5)
    exchange.record.margin = 0
    assert "vendor_cost" not in row(exchange)


def test_timestamps_have_milliseconds():
    assert timestamp(0.0) == "1970-01-01T00:00:00.000Z"
    assert timestamp(1_700_000_000.9999) == "2023-11-14T22:13:20.999Z"
