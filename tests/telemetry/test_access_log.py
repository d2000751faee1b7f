"""Each request has one line, which no caller can forge."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config import json_schema
from engine.exchange.request_record import Attempt, McpMessage, Outcome, Traffic
from engine.telemetry.access_log import FIELDS, AccessLogWriter, timestamp
from engine.values.caller import Caller
from engine.values.usage import Usage
from tests.support.exchanges import new_exchange


def finished_exchange(**changes):
    """An exchange that is over."""
    fields = {
        "path": "/v1/chat",
        "environ": {
            "REMOTE_ADDR": "10.1.2.3",
            "HTTP_USER_AGENT": "codex_exec/0.171.0 (Debian 13)",
            "HTTP_SESSION_ID": "s1",
        },
        "operation": "openai.chat",
        "model": "gpt",
        "caller": Caller("alice"),
    }
    exchange = new_exchange(**fields | changes)
    record = exchange.record
    record.time, record.usage, record.cost = (
        1_700_000_000.25,
        Usage(3, 4, 1, source="upstream"),
        1_500,
    )
    record.model, record.upstream, record.wait_time, record.duration = "gpt-4", "two", 0.75, 1.0
    record.first_byte = 0.5
    record.attempts = [
        Attempt("one/m", "one", "m", "connect", 0, 0.0, 0.25),
        Attempt("two/n", "two", "n", "", 200, 0.25, 0.25),
    ]
    record.end(200, Outcome.COMPLETE)
    return exchange


def lines_of(exchange, **options):
    lines = []
    options.setdefault("dice", lambda: 0.5)
    log = AccessLogWriter(lines.append, **options)
    log.write([exchange])
    return lines


def row(exchange, **options):
    (line,) = lines_of(exchange, **options)
    return json.loads(line)


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
        *("image_input", "cached_image", "image_output"),
    )
    exchange = finished_exchange()
    exchange.record.usage = Usage(**{name: at for at, name in enumerate(names, 1)})
    counts = row(exchange)["usage"]
    assert list(counts) == ["input", "output", "cached", "source", *names]
    assert [counts[name] for name in names] == [*range(1, 13)]


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


def test_configured_fields_are_written_in_their_order():
    values = row(finished_exchange(query="a=b&key=x"), fields=["status", "query", "time"])
    assert list(values.items()) == [
        ("status", 200),
        ("query", "a=b&key=[redacted]"),
        ("time", "2023-11-14T22:13:20.250Z"),
    ]


def test_the_schema_lists_every_field():
    text = json_schema.schema()["$defs"]["access_log"]["properties"]["fields"]["items"]["enum"]
    assert set(text) == set(FIELDS)
    everything = finished_exchange(record={"traffic": Traffic(), "mcp": McpMessage("shop")})
    everything.record.queue_time, everything.record.verdicts = 0.25, ("request:redact",)
    everything.record.margin = 1
    assert set(row(everything, fields=FIELDS)) == set(FIELDS)


def test_the_vendors_cost_is_written_if_the_team_pays_another():
    exchange = finished_exchange()
    exchange.record.cost, exchange.record.margin = 3_000_000_000, 500_000_000
    assert (row(exchange)["cost"], row(exchange)["vendor_cost"]) == (3.0, 2.5)
    exchange.record.margin = 0
    assert "vendor_cost" not in row(exchange)


def test_the_text_format_is_names_and_values():
    exchange = finished_exchange()
    exchange.caller = Caller("alice and bob")
    (line,) = lines_of(exchange, text=True)
    text = line.decode()
    assert text.startswith("time=2023-11-14T22:13:20.250Z request_id=req_1 token=")
    assert 'token="alice and bob"' in text
    assert "attempts=one/m:connect,two/n:ok" in text
    assert "usage.input=3" in text
    assert "code=" not in text


@pytest.mark.parametrize(("sample", "count"), [(1.0, 1), (0.6, 1), (0.5, 0), (0.0, 0)])
def test_complete_responses_are_sampled(sample, count):
    assert len(lines_of(finished_exchange(), sample=sample)) == count


@pytest.mark.parametrize(
    ("status", "outcome"), [(404, "refused"), (200, "upstream_cut"), (101, "complete")]
)
def test_other_outcomes_are_always_written(status, outcome):
    exchange = finished_exchange()
    exchange.record.end(status, outcome)
    assert len(lines_of(exchange, sample=0.0)) == 1


ANYTHING = st.text(st.characters(), max_size=600)


@given(ANYTHING, ANYTHING, st.booleans())
def test_no_text_ends_a_line_or_controls_a_terminal(model, path, text):
    exchange = finished_exchange(model=model, path=path, method=model[:9])
    exchange.record.code = path
    exchange.caller = Caller(model)
    (line,) = lines_of(exchange, text=text)
    assert re.fullmatch(rb"[ -~]+\n", line)
    assert len(line) <= 4096
    if not text:
        assert json.loads(line)["model"] == model[: len(json.loads(line)["model"])]


def test_a_line_with_many_attempts_is_cut():
    exchange = finished_exchange(model="\U0001f600" * 600, path="/" + "é" * 600)
    exchange.record.attempts *= 50
    exchange.record.attempts.append(Attempt("x" * 600, "x" * 600, "", "reset", 0, 0.0, 0.0))
    (line,) = lines_of(exchange)
    assert len(line) <= 4096
    assert json.loads(line)["status"] == 200


def test_timestamps_have_milliseconds():
    assert timestamp(0.0) == "1970-01-01T00:00:00.000Z"
    assert timestamp(1_700_000_000.9999) == "2023-11-14T22:13:20.999Z"


def test_lines_are_written_together_up_to_the_limit_of_a_pipe():
    lines = []
    log = AccessLogWriter(lines.append, dice=lambda: 0.5)
    log.write([finished_exchange(request_id=f"req_{number}") for number in range(20)])
    assert len(lines) < 10
    assert all(len(piece) <= 4096 for piece in lines)
    rows = [json.loads(line) for line in b"".join(lines).splitlines()]
    assert [row["request_id"] for row in rows] == [f"req_{number}" for number in range(20)]


def test_an_exchange_that_cannot_be_logged_does_not_affect_others(caplog):
    lines = []
    odd = finished_exchange(request_id="req_odd")
    odd.record.duration = "no number"
    AccessLogWriter(lines.append, dice=lambda: 0.5).write(
        [finished_exchange(), odd, finished_exchange()]
    )
    assert len(b"".join(lines).splitlines()) == 2
    assert "req_odd" in caplog.text
