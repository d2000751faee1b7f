"""The ledger entry of a request, with its usage and cost, and its line in the journal."""

from __future__ import annotations

from math import isfinite
from operator import attrgetter
from typing import NamedTuple, get_type_hints

import orjson

from engine.exchange.exchange import Exchange
from engine.exchange.outcome import Outcome
from engine.exchange.request_client import client_of, session_of
from engine.exchange.request_record import CANCELLED


class Entry(NamedTuple):
    """One request. `id` is the request id: entries with the same id count once.

    `time` is when the request arrived (Unix seconds), `duration` and `first_byte` are seconds,
    `cost` is in nano-units of `currency`, at the price from `price` (see `values/price.py`).
    `margin` is the part of it that the vendor does not charge, because the team has prices of its
    own; it may be negative. `cost - margin` is the vendor's cost.
    `outcome` is one of `Outcome`, or CANCELLED for an attempt that is not a request of its own;
    `source` is the counter of the tokens (see `values/usage.py`). `client` and `client_version` are
    the program that sent the request, `session` the session that it names. `tags` is a text of
    `values/tags.py`. `via` is "mcp" for the call of a tool, or another message to an MCP server,
    "batch" for a request of a batch, and "mirror" for a copy.
    Text is "" where there is none, and is cut after 256 characters.

    An entry that was read from a journal may hold values out of bounds, until it is `repaired`.
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
    cache_write: int = 0
    cache_write_1h: int = 0
    audio_input: int = 0
    cached_audio: int = 0
    audio_output: int = 0
    image_input: int = 0
    cached_image: int = 0
    image_output: int = 0
    price: str = ""
    team: str = ""
    client: str = ""
    client_version: str = ""
    session: str = ""
    via: str = ""
    tags: str = ""
    margin: int = 0
    searches: int = 0


TYPES = get_type_hints(Entry)
"""The type of each field, which its column in the database has too."""
SMALL = frozenset({"status", "attempts"})
"""Fields of 32 bits in the database."""
_RESULT = attrgetter("model", "upstream", "status", "outcome")
_place = Entry._fields.index
_USAGE = attrgetter(*Entry._fields[_place("input") : _place("cost")])
_USAGE_PARTS = attrgetter(*Entry._fields[_place("cache_write") : _place("price")])
_MAX_LINE = 4096
_MAX_TEXT = 256
_LAST_TIME = 253_402_300_799.0
"""The end of the year 9999."""
_DEFAULTS = {"id": "", "time": 0.0} | Entry._field_defaults
_JSON_TYPES = frozenset(
    tuple(first_byte if name == "first_byte" else kind for name, kind in TYPES.items())
    for first_byte in (float, type(None))
)
"""The types of the values of an entry."""


def entry_of(exchange: Exchange, currency: str) -> Entry:
    """The entry of an exchange that has ended."""
    record, caller = exchange.record, exchange.caller
    usage = record.usage
    return Entry._make(
        (
            exchange.request_id,
            record.time,
            caller.name if caller is not None else "",
            exchange.operation,
            exchange.model.name,
            *_RESULT(record),
            *_USAGE(usage),
            record.cost,
            currency,
            record.first_byte,
            record.duration,
            exchange.body.size,
            record.bytes_out,
            record.stream,
            record.attempt_count,
            *_USAGE_PARTS(usage),
            record.price_source,
            caller.team if caller is not None else "",
            *client_of(exchange)[:2],
            session_of(exchange),
            record.via,
            "",
            record.margin,
            usage.searches,
        )
    )


def cancelled_entries(exchange: Exchange, currency: str) -> list[Entry]:
    """The entries of attempts that were cancelled because another one won. They have no usage: what
    their upstreams reported is part of the request's. Their id is that of the request with the
    number of the attempt."""
    entry = entry_of(exchange, currency)
    start = exchange.record.time - exchange.record.start
    return [
        Entry(
            f"{entry.id}.{number}",
            start + attempt.start,
            entry.token,
            entry.operation,
            entry.model_asked,
            entry.model_served,
            attempt.upstream,
            outcome=CANCELLED,
            currency=currency,
            duration=attempt.seconds,
            bytes_in=entry.bytes_in,
            attempts=1,
            team=entry.team,
            client=entry.client,
            client_version=entry.client_version,
            session=entry.session,
            via=entry.via,
        )
        for number, attempt in enumerate(exchange.record.attempts, 1)
        if attempt.failure == CANCELLED
    ]


def encode(entry: Entry) -> bytes:
    """The journal's line for an entry: a JSON array and the line end. Invalid values are repaired,
    so it raises nothing."""
    try:
        line = orjson.dumps(tuple(entry), option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # text that is not Unicode, a number beyond 64 bits, another type
        line = b""
    if not line or len(line) > _MAX_LINE or line.find(b"\\u0000") >= 0:
        line = orjson.dumps(tuple(repaired(entry)), option=orjson.OPT_APPEND_NEWLINE)
    return line


def decode(line: bytes) -> Entry | None:
    """The entry of a line, or None for a line without an entry: torn, zeros, other content. Values
    of other types than the field's are repaired: SQLite would store them, or refuse all rows.

    Older versions wrote objects and fewer fields; newer ones may write more fields, at the end.
    """
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if type(row) is list and tuple(map(type, row)) in _JSON_TYPES and row[0]:
        return Entry._make(row)  # what this version has written
    if isinstance(row, dict):
        row = [row.get(name, default) for name, default in _DEFAULTS.items()]
    if not isinstance(row, list) or not row or not isinstance(row[0], str) or not row[0]:
        return None
    count = len(Entry._fields)
    if len(row) != count:
        row = [*row, *[*_DEFAULTS.values()][len(row) :]][:count]
    return repaired(Entry._make(row))


def repaired(entry: Entry) -> Entry:
    """The entry with every value converted to its field's type and bounds, so that every database
    accepts it."""
    fields = zip(TYPES.items(), entry, strict=True)
    return Entry._make(_repaired_value(name, kind, value) for (name, kind), value in fields)


def _repaired_value(name: str, kind: object, value: object) -> object:
    if kind is str:
        text = value if isinstance(value, str) else ""
        return text[:_MAX_TEXT].encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    if kind is bool:
        return bool(value)
    if not isinstance(value, int | float) or (isinstance(value, float) and not isfinite(value)):
        return 0 if kind is int else 0.0 if kind is float else None
    if kind is int:
        bound = 2**31 - 1 if name in SMALL else 2**63 - 1
        return max(-bound, min(int(value), bound))
    if name == "time":
        return float(max(0.0, min(value, _LAST_TIME)))
    return float(max(-1e300, min(value, 1e300)))
