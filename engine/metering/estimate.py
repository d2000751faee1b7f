"""What a request will use, estimated by what it says: to reserve, and where no upstream tells.

The rule is cheap and plain: four bytes of text are a token; the answer is as long as the caller
lets it be, or else DEFAULT_OUTPUT. Files and base64 count by pieces, not by their megabytes.
"""

from __future__ import annotations

from typing import Any

from engine.dialects.usage import MOST, count, first
from engine.exchange.exchange import MISSING, Exchange
from engine.values.json_edit import Buffer
from engine.values.takes import GENERATION, OUTPUT_LIMITS, Takes
from engine.values.usage import NOTHING, Usage

BYTES_PER_TOKEN = 4

DEFAULT_OUTPUT = 1_024
"""Tokens of an answer whose length the caller does not bound."""

LEAST_FILE, MOST_FILE, BYTES_PER_FILE_TOKEN = 256, 4_096, 256
"""A file in the request counts one token for so many bytes, within these bounds."""

_CONFIGS = frozenset(GENERATION)
_CONFIG_LIMITS = ("maxOutputTokens", "max_output_tokens")
_CONFIG_ANSWERS = ("candidateCount", "candidate_count")
_ANSWERS = frozenset({*GENERATION, "n"})
_SAYS = _ANSWERS.union(OUTPUT_LIMITS)
_MOST_ANSWERS = 128
_BLOCK = 4_096
_SCANNED = 16_384


def expected(exchange: Exchange) -> Usage:
    """What an exchange will use: estimated when somebody first asks, and never for most."""
    record = exchange.record
    if record.estimate is NOTHING and exchange.takes is not None:
        record.estimate = estimate(exchange, exchange.takes)
    return record.estimate


def estimate(exchange: Exchange, takes: Takes) -> Usage:
    """The usage to expect of a request whose body has been received and parsed."""
    fields: dict[str, Any] = exchange.value if isinstance(exchange.value, dict) else {}
    said = fields.get("input") if takes.speech else ""
    return Usage(
        input=_input(exchange, fields),
        output=_output(fields) if takes.output else 0,
        images=min(count(_number(fields.get("n"))) or 1, _MOST_ANSWERS) if takes.images else 0,
        characters=len(said) if isinstance(said, str) else 0,
        source="estimated",
    )


def _input(exchange: Exchange, fields: dict[str, Any]) -> int:
    size = exchange.body.size
    if exchange.parts:
        taken = _form_tokens(exchange, fields)
    elif exchange.value is MISSING and exchange.body.buffer[:1] not in (b"", b"{", b"["):
        taken = _file_tokens(size)  # it is neither JSON nor any form
    elif size <= _SCANNED:
        return size // BYTES_PER_TOKEN
    else:
        taken = input_tokens(exchange.body.buffer)
    return min(taken, MOST)


def input_tokens(buffer: Buffer) -> int:
    """Tokens in a body of more than _SCANNED bytes. What is no text in it counts as files do: long
    runs of ASCII without a space, as base64 is."""
    size = len(buffer)
    tokens = text = run = 0
    for at in range(0, size, _BLOCK):
        end = min(at + _BLOCK, size)
        if buffer.find(b" ", at, end) < 0 and end - at == _BLOCK and buffer[at:end].isascii():
            run += end - at
            continue
        text += end - at
        if run:
            tokens, run = tokens + _file_tokens(run), 0
    return tokens + (_file_tokens(run) if run else 0) + text // BYTES_PER_TOKEN


def _file_tokens(size: int) -> int:
    return min(max(size // BYTES_PER_FILE_TOKEN, LEAST_FILE), MOST_FILE)


def _form_tokens(exchange: Exchange, fields: dict[str, Any]) -> int:
    """Tokens in a form: its texts, and its files as files."""
    text = _text_size(fields)
    files = (part.end - part.start for part in exchange.parts if part.filename is not None)
    return text // BYTES_PER_TOKEN + sum(_file_tokens(size) for size in files)


def _text_size(value: object) -> int:
    """Characters of all the texts in a value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_text_size, value.values()))
    return sum(map(_text_size, value)) if isinstance(value, list) else 0


def _output(fields: dict[str, Any]) -> int:
    """Tokens that the answers may have: the first limit that is said, for each answer."""
    said = _SAYS.intersection(fields)
    if not said:
        return DEFAULT_OUTPUT
    if len(said) == 1:  # most often it is one of the limits
        limit = fields[next(iter(said))]
        if type(limit) is int and 0 <= limit <= MOST and _ANSWERS.isdisjoint(said):
            return limit
    limit = first(fields, *OUTPUT_LIMITS)
    answers = count(fields["n"]) if "n" in fields else None
    for key in GENERATION if not _CONFIGS.isdisjoint(fields) else ():
        config = fields.get(key)
        if isinstance(config, dict):
            limit = first(config, *_CONFIG_LIMITS) if limit is None else limit
            answers = answers or first(config, *_CONFIG_ANSWERS)
    limit = DEFAULT_OUTPUT if limit is None else limit
    return min(limit * min(answers or 1, _MOST_ANSWERS), MOST)


def _number(value: Any) -> Any:
    """A form says its numbers as text."""
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 4 else value
