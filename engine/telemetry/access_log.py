"""The access log: one line for each request, when it ends.

Nothing that a caller says can end a line or steer a terminal: what is not printable ASCII is
escaped. A line is at most 4096 bytes, which a pipe takes whole, so lines of several workers never
mix. Secrets are no part of it: tokens have names, and the values of a query that could be one are
left out.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import orjson

from engine.exchange.exchange import Exchange
from engine.exchange.record import Attempt, Outcome, RequestRecord, Traffic
from engine.values.client_address import Network, caller_address
from engine.values.redaction import redact_query, redact_tokens

FIELDS = (
    *("time", "request_id", "trace_id", "token", "address", "method", "path", "query"),
    *("operation", "model", "model_served", "upstream", "target", "attempts"),
    *("status", "outcome", "code", "limit", "bytes_in", "bytes_out"),
    *("first_byte", "duration", "own", "stream", "usage", "cost", "currency", "websocket"),
)
"""What a line may hold, in the usual order."""

_LINE = 4096
_SHORTER = (200, 32)
_MOST_TRIES = 6
_PLAIN = re.compile(r"[A-Za-z0-9._:/@*+,\-]+")
_SELDOM = ("reasoning", "images", "seconds", "characters")

log = logging.getLogger("modelway")

Row = dict[str, Any]
Encode = Callable[[Row], bytes]


class AccessLog:
    """Writes a line for each exchange that is over; of the complete 2xx only a `sample`.

    `fields` are those of FIELDS that a line holds, in that order; without any, all but the query.
    """

    def __init__(
        self,
        write: Callable[[bytes], None],
        *,
        text: bool = False,
        fields: Sequence[str] = (),
        sample: float = 1.0,
        dice: Callable[[], float],
        currency: str = "",
        proxies: Sequence[Network] = (),
    ) -> None:
        self._write = write
        self._encode: Encode = as_text if text else as_json
        self._fields = tuple(fields)
        self._sample = sample
        self._dice = dice
        self._currency = currency
        self._proxies = proxies

    def write(self, exchanges: Sequence[Exchange]) -> None:
        """Exchanges are over: write as many lines at a time as a pipe takes whole."""
        lines: list[bytes] = []
        size = 0
        if self._sample < 1.0:
            exchanges = [each for each in exchanges if self._is_kept(each.record)]
        for exchange in exchanges:
            try:
                line = self._line(exchange)
            except Exception:
                log.exception("request %s: its line was not written", exchange.request_id)
                continue
            if lines and size + len(line) > _LINE:
                self._write(b"".join(lines))
                lines, size = [], 0
            lines.append(line)
            size += len(line)
        if lines:
            self._write(b"".join(lines))

    def _is_kept(self, kept: RequestRecord) -> bool:
        well = 200 <= kept.status < 300 and kept.outcome == Outcome.COMPLETE
        return not well or self._dice() < self._sample

    def _line(self, exchange: Exchange) -> bytes:
        row = _row(exchange, self._fields, self._currency, self._address(exchange))
        line = self._encode(row)
        for length in _SHORTER:
            if len(line) <= _LINE:
                break
            row = _cut(row, length)
            line = self._encode(row)
        return line

    def _address(self, exchange: Exchange) -> str:
        return caller_address(exchange.environ, self._proxies)


def as_json(row: Row) -> bytes:
    """A row as one line of JSON, of printable ASCII alone."""
    try:
        line = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # text that is no Unicode
        line = b"\xff"
    if line.isascii() and b"\x7f" not in line:
        return line
    return json.dumps(row, separators=(",", ":")).replace("\x7f", "\\u007f").encode() + b"\n"


def as_text(row: Row) -> bytes:
    """A row as one line of `name=value`, of printable ASCII alone."""
    said = []
    for name, value in row.items():
        if name == "attempts":
            value = ",".join(f"{one['target']}:{one['failure'] or 'ok'}" for one in value)
        if isinstance(value, dict):
            said += [f"{name}.{key}={_word(below)}" for key, below in value.items()]
        elif value:
            said.append(f"{name}={_word(value)}")
    return " ".join(said).encode() + b"\n"


def _word(value: Any) -> str:
    if isinstance(value, str):
        return _quoted(value)
    return "" if value is None else str(value).lower()


@lru_cache(maxsize=4096)
def _quoted(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else json.dumps(text).replace("\x7f", "\\u007f")


def _row(exchange: Exchange, wanted: Sequence[str], currency: str, address: str) -> Row:
    """One exchange. Long, as it has a line for each field."""
    kept, caller, trace = exchange.record, exchange.caller, exchange.trace
    tries = kept.attempts
    row: Row = {
        "time": moment(kept.time),
        "request_id": exchange.request_id,
        "trace_id": getattr(trace, "trace_id", None),
        "token": caller.name if caller is not None else "",
        "address": address,
        "method": exchange.method,
        "path": redact_tokens(exchange.path),
        "operation": exchange.operation,
        "model": exchange.model,
        "model_served": kept.model,
        "upstream": kept.upstream,
        "target": tries[-1].target if tries else "",
        "attempts": [_attempt(one) for one in tries[-_MOST_TRIES:]],
        "status": kept.status,
        "outcome": kept.outcome,
        "code": kept.code,
        "limit": kept.limit,
        "bytes_in": exchange.body.size,
        "bytes_out": kept.bytes_out,
        "first_byte": None if kept.first_byte is None else _rounded(kept.first_byte),
        "duration": _rounded(kept.duration),
        "own": _rounded(kept.gateway_time),
        "stream": kept.stream,
        "usage": _usage(kept),
        "cost": kept.cost / 1e9,
        "currency": currency,
    }
    if exchange.traffic is not None:
        row["websocket"] = _session(exchange.traffic)
    if not wanted:
        return row
    if "query" in wanted:
        row["query"] = redact_query(exchange.query, every_value=not exchange.operation)
    return {name: row[name] for name in wanted if name in row}


def _attempt(one: Attempt) -> Row:
    return {
        "target": one.target,
        "failure": one.failure,
        "status": one.status,
        "seconds": _rounded(one.seconds),
    }


def _cut(value: Any, length: int) -> Any:
    """The same with every text cut."""
    if isinstance(value, dict):
        return {name: _cut(below, length) for name, below in value.items()}
    if isinstance(value, list):
        return [_cut(below, length) for below in value]
    return value[:length] if isinstance(value, str) else value


def _usage(kept: RequestRecord) -> Row:
    usage = kept.usage
    row: Row = {
        "input": usage.input,
        "output": usage.output,
        "cached": usage.cached,
        "source": usage.source,
    }
    if usage.reasoning or usage.images or usage.seconds or usage.characters:
        row |= {name: value for name in _SELDOM if (value := getattr(usage, name))}
    return row


def _session(traffic: Traffic) -> Row:
    return {
        "messages_in": traffic.sent.messages,
        "messages_out": traffic.received.messages,
        "bytes_in": traffic.sent.bytes,
        "bytes_out": traffic.received.bytes,
        "seconds": _rounded(traffic.seconds),
        "code": traffic.code,
    }


def _rounded(seconds: float) -> float:
    """To microseconds; twice as quick as round()."""
    return int(seconds * 1e6 + 0.5) / 1e6


def moment(seconds: float) -> str:
    """Unix seconds as RFC 3339 with milliseconds: `2026-11-21T17:00:00.123Z`."""
    whole = int(seconds)
    return "%s.%03dZ" % (_second(whole), (seconds - whole) * 1000)  # noqa: UP031 - half the time


@lru_cache(maxsize=4)
def _second(whole: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
