"""One row of the ledger: what a request was, used and cost; and its line in a journal."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from math import isfinite
from typing import Any

import orjson

from engine.exchange import Exchange


@dataclass(slots=True)
class Entry:
    """One request. `id` is made by the gateway: rows with one id count once.

    `time` is when it came (Unix seconds), `duration` and `first_byte` are seconds, `cost` is in
    nano-units of `currency`. `outcome` is `complete`, `caller_left`, `upstream_cut`, `refused` or
    `failed`; `source` tells who counted the tokens (see `engine.usage`). Text is "" where there is
    none; more than 256 characters of it are not kept.
    """

    id: str
    time: float
    token: str = ""
    operation: str = ""
    model_asked: str = ""
    model_served: str = ""
    upstream: str = ""
    status: int = 0
    outcome: str = "complete"
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


Row = dict[str, Any]
NAMES = tuple(field.name for field in fields(Entry))
_SMALL = frozenset({"status", "attempts"})
_LONGEST = 4096
_TEXT = 256
_read = operator.attrgetter(*NAMES)


def entry_of(exchange: Exchange, currency: str) -> Row:
    """The row of an exchange that is over: an Entry's fields by name, which is quicker to make."""
    kept, usage = exchange.account, exchange.account.usage
    return {
        "id": exchange.request_id,
        "time": kept.time,
        "token": exchange.caller.name if exchange.caller is not None else "",
        "operation": exchange.operation,
        "model_asked": exchange.model,
        "model_served": kept.model,
        "upstream": kept.upstream,
        "status": kept.status,
        "outcome": kept.outcome,
        "input": usage.input,
        "output": usage.output,
        "cached": usage.cached,
        "reasoning": usage.reasoning,
        "images": usage.images,
        "seconds": usage.seconds,
        "characters": usage.characters,
        "source": usage.source,
        "cost": kept.cost,
        "currency": currency,
        "first_byte": kept.first_byte,
        "duration": kept.duration,
        "bytes_in": exchange.body.size,
        "bytes_out": kept.bytes_out,
        "stream": kept.stream,
        "attempts": kept.attempts,
    }


def encode(entry: Entry | Row) -> bytes:
    """An entry as a line of JSON, its end included. Raises nothing, whatever the fields hold."""
    row = dict(zip(NAMES, _read(entry), strict=True)) if isinstance(entry, Entry) else entry
    try:
        line = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # text that is no Unicode, a number beyond 64 bits, another type
        line = b""
    if not line or len(line) > _LONGEST or b"\\u0000" in line:
        line = orjson.dumps(mended(row), option=orjson.OPT_APPEND_NEWLINE)
    return line


def decode(line: bytes) -> dict[str, Any] | None:
    """The row that a line holds, or None for what is no row: a torn line, zeros, another thing."""
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(row, dict) or not isinstance(row.get("id"), str) or not row["id"]:
        return None
    return row


def mended(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row that every database takes: every field there, of its type and within its bounds."""
    return {field.name: _mend(field.name, field.type, _said(row, field)) for field in fields(Entry)}


def _said(row: Mapping[str, Any], field: Any) -> Any:
    return row.get(field.name, 0 if field.default is MISSING else field.default)


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
