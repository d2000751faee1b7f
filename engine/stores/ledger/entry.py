"""One row of the ledger: what a request was, used and cost; and its line in a journal."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

import orjson

from engine.exchange.exchange import Exchange
from engine.exchange.record import Outcome


@dataclass(slots=True)
class Entry:
    """One request. `id` is made by the gateway: rows with one id count once.

    `time` is when it came (Unix seconds), `duration` and `first_byte` are seconds, `cost` is in
    nano-units of `currency`. `outcome` is one of `Outcome`; `source` tells who counted the tokens
    (see `values/usage.py`). Text is "" where there is none; more than 256 characters of it are not
    kept.
    """

    id: str
    time: float
    token: str = ""
    operation: str = ""
    model_asked: str = ""
    model_served: str = ""
    upstream: str = ""
    status: int = 0
    outcome: str = Outcome.COMPLETE
    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    images: int = 0
    seconds: float = 0.0
    characters: int = 0
    source: str = "none"
    cost: int = 0
    currency: str = ""
    first_byte: float | None = None
    duration: float = 0.0
    bytes_in: int = 0
    bytes_out: int = 0
    stream: bool = False
    attempts: int = 0


Row = Sequence[Any]
"""The values of an Entry's fields, in their order: a third of the work that names make."""
NAMES = tuple(field.name for field in fields(Entry))
_SMALL = frozenset({"status", "attempts"})
_LONGEST = 4096
_TEXT = 256
_DEFAULTS = ["", 0.0, *(field.default for field in fields(Entry)[2:])]
_read = operator.attrgetter(*NAMES)


def entry_of(exchange: Exchange, currency: str) -> Row:
    """The row of an exchange that is over: an Entry's values in the order of its fields."""
    kept, usage = exchange.record, exchange.record.usage
    return (
        exchange.request_id,
        kept.time,
        exchange.caller.name if exchange.caller is not None else "",
        exchange.operation,
        exchange.model,
        kept.model,
        kept.upstream,
        kept.status,
        kept.outcome,
        usage.input,
        usage.output,
        usage.cached,
        usage.reasoning,
        usage.images,
        usage.seconds,
        usage.characters,
        usage.source,
        kept.cost,
        currency,
        kept.first_byte,
        kept.duration,
        exchange.body.size,
        kept.bytes_out,
        kept.stream,
        kept.attempt_count,
    )


def encode(entry: Entry | Row) -> bytes:
    """An entry as a line, an array of JSON, its end included. Raises nothing, whatever the fields
    hold."""
    row = _read(entry) if isinstance(entry, Entry) else entry
    try:
        line = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # text that is no Unicode, a number beyond 64 bits, another type
        line = b""
    if not line or len(line) > _LONGEST or b"\\u0000" in line:
        line = orjson.dumps(mended(row), option=orjson.OPT_APPEND_NEWLINE)
    return line


def decode(line: bytes) -> list[Any] | None:
    """The row that a line holds, or None for what is no row: a torn line, zeros, another thing.

    Older programs wrote objects, and had fewer fields; newer ones may have more, at the end.
    """
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if isinstance(row, dict):
        row = [row.get(name, default) for name, default in zip(NAMES, _DEFAULTS, strict=True)]
    if not isinstance(row, list) or not row or not isinstance(row[0], str) or not row[0]:
        return None
    if len(row) != len(NAMES):
        row = [*row, *_DEFAULTS[len(row) :]][: len(NAMES)]
    return row


def named(row: Row) -> dict[str, Any]:
    """The values of a row by the names of their fields."""
    return dict(zip(NAMES, row, strict=True))


def mended(row: Row) -> list[Any]:
    """A row that every database takes: every value of its field's type and within its bounds."""
    each = zip(fields(Entry), row, strict=True)
    return [_mend(field.name, field.type, value) for field, value in each]


def _mend(name: str, kind: Any, value: Any) -> Any:
    if kind == "str":
        text = value if isinstance(value, str) else ""
        return text[:_TEXT].encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    if kind == "bool":
        return bool(value)
    if not isinstance(value, int | float) or (isinstance(value, float) and not isfinite(value)):
        return None if kind == "float | None" else 0 if kind == "int" else 0.0
    if kind == "int":
        bound = 2**31 - 1 if name in _SMALL else 2**63 - 1
        return max(-bound, min(int(value), bound))
    return float(max(-1e300, min(value, 1e300)))
