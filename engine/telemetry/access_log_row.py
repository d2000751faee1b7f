"""The values of a line of the access log."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter, itemgetter
from typing import Any

from engine.exchange.exchange import Exchange
from engine.exchange.request_client import client_of, session_of
from engine.exchange.request_record import Attempt, RequestRecord, Traffic
from engine.values.redaction import redact_query, redact_tokens
from engine.values.usage import RARE, Usage

_MAX_ATTEMPTS = 6
_rare_counts = attrgetter(*RARE)
_rare_values = attrgetter(
    *("margin", "queue_time", "traffic", "is_mirror", "is_copy", "mcp", "verdicts")
)
_MESSAGE = ("server", "method", "tool", "revision", "client")
_message_values = attrgetter(*_MESSAGE)
_value = itemgetter(1)
Row = dict[str, Any]


def row_of(exchange: Exchange, fields: Sequence[str], currency: str, address: str) -> Row:
    """The values of a line."""
    record, caller, trace = exchange.record, exchange.caller, exchange.trace
    attempts = record.attempts
    row: Row = {
        "time": timestamp(record.time),
        "request_id": exchange.request_id,
        "trace_id": None if trace is None else trace.trace_id,
        "token": caller.name if caller is not None else "",
        "address": address,
        "client": client_of(exchange).text,
        "session": session_of(exchange),
        "method": exchange.method,
        "path": redact_tokens(exchange.path),
        "operation": exchange.operation,
        "model": exchange.model.name,
        "model_served": record.model,
        "upstream": record.upstream,
        "target": attempts[record.decisive_attempt].target if attempts else "",
        "attempts": [_attempt(attempt) for attempt in attempts[-_MAX_ATTEMPTS:]],
        "status": record.status,
        "outcome": record.outcome,
        "code": record.code,
        "limit": record.limit,
        "bytes_in": exchange.body.size,
        "bytes_out": record.bytes_out,
        "first_byte": None if record.first_byte is None else _round(record.first_byte),
        "duration": _round(record.duration),
        "own": _round(record.gateway_time),
        "stream": record.stream,
        "usage": _usage(record.usage),
        "cost": record.cost / 1e9,
        "currency": currency,
    }
    if any(_rare_values(record)):
        _add_rare_values(row, record)
    if not fields:
        return row
    if "query" in fields:
        row["query"] = redact_query(exchange.query, every_value=not exchange.operation)
    return {name: row[name] for name in fields if name in row}


def _add_rare_values(row: Row, record: RequestRecord) -> None:
    """Add the values that few requests have."""
    if record.margin:
        row["vendor_cost"] = (record.cost - record.margin) / 1e9
    if record.queue_time:
        row["queue"] = _round(record.queue_time)
    if record.traffic is not None:
        row["websocket"] = _session(record.traffic)
    if record.is_mirror or record.is_copy:
        row["via"] = record.via
    if record.mcp is not None:
        row["via"], row["mcp"] = record.via, _message(*_message_values(record.mcp))
    if record.verdicts:
        row["guard"] = list(record.verdicts)


def _attempt(attempt: Attempt) -> Row:
    row: Row = {
        "target": attempt.target,
        "failure": attempt.failure,
        "status": attempt.status,
        "seconds": _round(attempt.seconds),
    }
    if attempt.language:
        row["translated"] = attempt.language
    return row


def _usage(usage: Usage) -> Row:
    row: Row = {
        "input": usage.input,
        "output": usage.output,
        "cached": usage.cached,
        "source": usage.source,
    }
    if any(counts := _rare_counts(usage)):
        row |= {name: n for name, n in zip(RARE, counts, strict=True) if n}
    return row


def _session(traffic: Traffic) -> Row:
    return {
        "messages_in": traffic.sent.messages,
        "messages_out": traffic.received.messages,
        "bytes_in": traffic.sent.bytes,
        "bytes_out": traffic.received.bytes,
        "seconds": _round(traffic.seconds),
        "code": traffic.code,
    }


@lru_cache(maxsize=256)
def _message(*values: str) -> Row:
    """The values of a message of MCP, of which many are equal."""
    row: Row = dict(filter(_value, zip(_MESSAGE, values, strict=True)))
    if "client" in row:
        row["client"] = redact_tokens(row["client"])
    return row


def _round(seconds: float) -> float:
    """Seconds, rounded to microseconds; twice as fast as round()."""
    return int(seconds * 1e6 + 0.5) / 1e6


def timestamp(seconds: float) -> str:
    """Unix seconds as RFC 3339 with milliseconds: `2026-11-21T17:00:00.123Z`."""
    second = int(seconds)
    milliseconds = (seconds - second) * 1000
    return "%s.%03dZ" % (_date_time(second), milliseconds)  # noqa: UP031 - half the time


@lru_cache(maxsize=4)
def _date_time(second: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
