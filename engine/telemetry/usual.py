"""The usual line of the access log: most of it is the same for many requests, and written once.

A request that one upstream answered well differs from the last of its kind by some numbers. They
are filled into a line that was made, as any other is, of a row with marks in their places.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from engine.exchange.exchange import Exchange
from engine.values.caller import PREFIX

Row = dict[str, Any]

_MARK = secrets.token_hex(16)  # what no caller knows cannot be said by one
_MOST = 256
_LONGEST = 4096
_REMEMBERED = 256

_HOLES = {
    "time": '"%s"',
    "request_id": '"%s"',
    "trace_id": "%s",
    "address": "%s",
    "path": "%s",
    "seconds": "%.6f",
    "bytes_in": "%d",
    "bytes_out": "%d",
    "first_byte": "%.6f",
    "duration": "%.6f",
    "own": "%.6f",
    "input": "%d",
    "output": "%d",
    "cached": "%d",
    "cost": "%s",
}
"""What differs, in the order of a line."""


class Usual:
    """Lines by their kind. `row_of` and `encode` make any line, `address_of` says who calls and
    `moment` how a time is written."""

    def __init__(
        self,
        row_of: Callable[[Exchange], Row],
        encode: Callable[[Row], bytes],
        address_of: Callable[[Exchange], str],
        moment: Callable[[float], str],
    ) -> None:
        self._row_of = row_of
        self._encode = encode
        self._address_of = address_of
        self._moment = moment
        self._known: dict[tuple[Any, ...], str] = {}

    def line(self, exchange: Exchange) -> bytes | None:
        """The line of a usual exchange, None for any other."""
        kept, caller, trace = exchange.record, exchange.caller, exchange.trace
        tries, usage = kept.tries, kept.usage
        if len(tries) != 1 or kept.first_byte is None or exchange.traffic is not None:
            return None
        address = self._address_of(exchange)
        if len(exchange.path) > _REMEMBERED or len(address) > _REMEMBERED:
            return None
        if PREFIX in exchange.path:  # no token is to be remembered
            return None
        if usage.reasoning or usage.images or usage.seconds or usage.characters:
            return None
        (one,) = tries
        kind = (
            *(caller.name if caller is not None else "", exchange.method, exchange.operation),
            *(exchange.model, kept.model, kept.upstream, one.target, one.failure, one.status),
            *(kept.status, kept.outcome, kept.code, kept.limit, kept.stream, usage.source),
        )
        line = self._known.get(kind) or self._made(exchange, kind)
        said = line % (
            self._moment(kept.time),
            exchange.request_id,
            "null" if trace is None else f'"{trace.trace_id}"',
            _text(address),
            _text(exchange.path),
            one.seconds,
            exchange.body.size,
            kept.bytes_out,
            kept.first_byte,
            kept.duration,
            kept.own,
            usage.input,
            usage.output,
            usage.cached,
            kept.cost / 1e9,
        )
        return said.encode() if len(said) <= _LONGEST else None

    def _made(self, exchange: Exchange, kind: tuple[Any, ...]) -> str:
        row = _marked(self._row_of(exchange))
        line = self._encode(row).decode().replace("%", "%%")
        for name, hole in _HOLES.items():
            line = line.replace(f'"{_MARK}{name}"', hole)
        if len(line) <= _LONGEST:  # what a caller says may be long
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[kind] = line
        return line


def _marked(row: Mapping[str, Any]) -> Row:
    """A row, and what is within it, with marks in the places of what differs."""
    return {name: f"{_MARK}{name}" if name in _HOLES else _within(row[name]) for name in row}


def _within(value: Any) -> Any:
    if isinstance(value, dict):
        return _marked(value)
    return [_within(one) for one in value] if isinstance(value, list) else value


@lru_cache(maxsize=2048)
def _text(said: str) -> str:
    return json.dumps(said).replace("\x7f", "\\u007f")
