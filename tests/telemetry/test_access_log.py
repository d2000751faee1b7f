"""Each request has one line, which no caller can forge."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config import json_schema
from engine.exchange.request_record import Attempt, McpMessage, Traffic
from engine.telemetry.access_log import FIELDS, AccessLogWriter
from engine.values.caller import Caller
from tests.support.access_lines import finished_exchange, lines_of, row


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
