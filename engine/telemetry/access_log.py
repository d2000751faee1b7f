"""The access log: one line for each request, when it ends.

Whatever a caller sends, it cannot end a line or control a terminal: characters that are not
printable ASCII are escaped. A line is at most 4096 bytes, which a pipe accepts in one piece
(PIPE_BUF), so the lines of several workers never mix. A line holds no secrets: tokens are logged by
name, and values of the query that may be secrets are redacted.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import orjson

from engine.exchange.exchange import Exchange
from engine.exchange.outcome import Outcome
from engine.exchange.request_record import RequestRecord
from engine.telemetry.access_log_row import Row, row_of
from engine.values.client_address import Network, caller_address

FIELDS = (
    *("time", "request_id", "trace_id", "token", "address", "client", "session"),
    *("method", "path", "query"),
    *("operation", "model", "model_served", "upstream", "target", "attempts"),
    *("status", "outcome", "code", "limit", "bytes_in", "bytes_out"),
    *("first_byte", "duration", "own", "queue", "stream", "usage", "cost", "currency", "websocket"),
    *("vendor_cost", "via", "mcp", "guard"),
)
"""The fields of a line, in their default order."""

_MAX_LINE = 4096
_TEXT_LENGTHS = (200, 32)
"""The lengths in characters to which texts are cut, in turn, until the line is short enough."""
_UNQUOTED = re.compile(r"[A-Za-z0-9._:/@*+,\-]+")

log = logging.getLogger("modelway")


class AccessLogWriter:
    """Writes a line for each finished exchange; of complete 2xx responses only a `sample` (0 to 1).

    `fields` are the fields to write, of FIELDS and in that order; if empty, all except the query.
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
        self._encode = _encode_text if text else _encode_json
        self._fields = tuple(fields)
        self._sample = sample
        self._dice = dice
        self._currency = currency
        self._proxies = proxies

    def write(self, exchanges: Sequence[Exchange]) -> None:
        """Write the lines of finished exchanges, several in one write up to the size that a pipe
        accepts in one piece."""
        lines: list[bytes] = []
        size = 0
        if self._sample < 1.0:
            exchanges = [exchange for exchange in exchanges if self._is_sampled(exchange.record)]
        for exchange in exchanges:
            try:
                line = self._line(exchange)
            except Exception:
                log.exception("request %s: its line was not written", exchange.request_id)
                continue
            if lines and size + len(line) > _MAX_LINE:
                self._write(b"".join(lines))
                lines, size = [], 0
            lines.append(line)
            size += len(line)
        if lines:
            self._write(b"".join(lines))

    def _is_sampled(self, record: RequestRecord) -> bool:
        success = 200 <= record.status < 300 and record.outcome is Outcome.COMPLETE
        return not success or self._dice() < self._sample

    def _line(self, exchange: Exchange) -> bytes:
        address = caller_address(exchange.environ, self._proxies)
        row = row_of(exchange, self._fields, self._currency, address)
        line = self._encode(row)
        return line if len(line) <= _MAX_LINE else self._cut_line(row)

    def _cut_line(self, row: Row) -> bytes:
        """The line of a row whose texts are cut until it is short enough."""
        line = b""
        for length in _TEXT_LENGTHS:
            row = _cut(row, length)
            line = self._encode(row)
            if len(line) <= _MAX_LINE:
                break
        return line


def _encode_json(row: Row) -> bytes:
    """A row as one line of JSON in printable ASCII."""
    try:
        line = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # a text with lone surrogates
        line = b"\xff"
    if line.isascii() and line.find(b"\x7f") < 0:
        return line
    return json.dumps(row, separators=(",", ":")).replace("\x7f", "\\u007f").encode() + b"\n"


def _encode_text(row: Row) -> bytes:
    """A row as one line of `name=value` in printable ASCII."""
    words = []
    for name, value in row.items():
        if name == "attempts":
            value = ",".join(map(_attempt_text, value))
        if isinstance(value, dict):
            words += [f"{name}.{key}={_word(item)}" for key, item in value.items()]
        elif value:
            words.append(f"{name}={_word(value)}")
    return " ".join(words).encode() + b"\n"


def _attempt_text(attempt: Row) -> str:
    text = f"{attempt['target']}:{attempt['failure'] or 'ok'}"
    return f"{text}:{attempt['translated']}" if "translated" in attempt else text


def _word(value: object) -> str:
    if isinstance(value, str):
        return _quote(value)
    return "" if value is None else str(value).lower()


@lru_cache(maxsize=4096)
def _quote(text: str) -> str:
    return text if _UNQUOTED.fullmatch(text) else json.dumps(text).replace("\x7f", "\\u007f")


def _cut(value: Any, length: int) -> Any:
    """The value with every text in it cut to a length."""
    if isinstance(value, dict):
        return {name: _cut(item, length) for name, item in value.items()}
    if isinstance(value, list):
        return [_cut(item, length) for item in value]
    return value[:length] if isinstance(value, str) else value
