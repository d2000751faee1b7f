"""Estimates usage: of a request, to reserve it, and of an answer that does not report it.

Four bytes of text are a token, unless the model has a tokenizer. An answer is as long as its
request allows, or else DEFAULT_OUTPUT. Files and base64 are one token per BYTES_PER_FILE_TOKEN
bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from msgspec.structs import replace

from engine.dialects.interface.usage import OutputMembers
from engine.dialects.interface.usage_counts import MAX_COUNT, count
from engine.exchange.exchange import MISSING, Exchange
from engine.metering.recordings import HEAD, seconds_of
from engine.values.json_spans import Buffer, value_end
from engine.values.trees import member_at
from engine.values.usage import NO_USAGE, OutputFields, Path, Takes, Usage

BYTES_PER_TOKEN = 4

DEFAULT_OUTPUT = 1_024
"""Tokens of an answer whose length the request does not bound."""

MIN_FILE, MAX_FILE, BYTES_PER_FILE_TOKEN = 256, 4_096, 256
"""The fewest and the most tokens of a file in a request, and its bytes per token."""

SAMPLE = 8_192
"""Bytes at the beginning of an answer from which its share of text is estimated."""

_MAX_ANSWERS = 128
_DOCUMENTS_OF_A_SEARCH = 100
_BLOCK = 4_096
_UNSCANNED = 16_384


def expected_usage(exchange: Exchange) -> Usage:
    """The estimated usage of an exchange; computed at the first call, which most requests never
    make."""
    record = exchange.record
    takes = exchange.metering.takes
    if record.estimate is NO_USAGE and takes is not None:
        record.estimate = estimate(exchange, takes)
    return record.estimate


def estimate(exchange: Exchange, takes: Takes) -> Usage:
    """The estimated usage of a request whose body has been received and parsed."""
    value = exchange.content.value
    body: dict[str, Any] = value if isinstance(value, dict) else {}
    text = body.get(takes.speech) if takes.speech else ""
    images = 0
    if takes.images:
        images = min(count(body.get(takes.images)) or 1, _MAX_ANSWERS)
    return Usage(
        input=_input(exchange, body),
        output=_output(body, takes.output) if takes.output is not None else 0,
        images=images,
        seconds=_seconds(exchange, takes.audio) if takes.audio else 0.0,
        characters=len(text) if isinstance(text, str) else 0,
        searches=_searches(body) if takes.searches else 0,
        source="estimated",
    )


def _input(exchange: Exchange, fields: dict[str, Any]) -> int:
    size = exchange.body.size
    counter = exchange.model.count_tokens
    if counter is not None and (tokens := _count_json(exchange, counter)) is not None:
        return min(tokens, MAX_COUNT)
    if exchange.content.parts:
        tokens = _form_tokens(exchange, fields)
    elif exchange.content.value is MISSING and exchange.body.buffer[:1] not in (b"", b"{", b"["):
        tokens = file_tokens(size)  # it is neither JSON nor a form
    elif size <= _UNSCANNED:
        return size // BYTES_PER_TOKEN
    else:
        tokens = input_tokens(exchange.body.buffer)
    return min(tokens, MAX_COUNT)


def _count_json(exchange: Exchange, counter: Callable[[Exchange], int | None]) -> int | None:
    """The tokens that the model's tokenizer counts in JSON; None for anything else."""
    content = exchange.content
    return None if content.parts or content.value is MISSING else counter(exchange)


def input_tokens(buffer: Buffer) -> int:
    """Tokens in a body of more than _UNSCANNED bytes. Long runs of ASCII without a space, as of
    base64, count as files."""
    size = len(buffer)
    tokens = text = run = 0
    for at in range(0, size, _BLOCK):
        end = min(at + _BLOCK, size)
        if buffer.find(b" ", at, end) < 0 and end - at == _BLOCK and buffer[at:end].isascii():
            run += end - at
            continue
        text += end - at
        if run:
            tokens, run = tokens + file_tokens(run), 0
    return tokens + (file_tokens(run) if run else 0) + text // BYTES_PER_TOKEN


def file_tokens(size: int) -> int:
    """The tokens of a file of so many bytes."""
    return min(max(size // BYTES_PER_FILE_TOKEN, MIN_FILE), MAX_FILE)


def _form_tokens(exchange: Exchange, fields: dict[str, Any]) -> int:
    """Tokens in the texts and files of a form."""
    text = _text_size(fields)
    files = (part.end - part.start for part in exchange.content.parts if part.filename is not None)
    return text // BYTES_PER_TOKEN + sum(file_tokens(size) for size in files)


def _seconds(exchange: Exchange, member: str) -> float:
    """The seconds of the recordings in a form."""
    body = exchange.body.buffer
    return sum(
        seconds_of(
            bytes(body[part.start : min(part.end, part.start + HEAD)]), part.end - part.start
        )
        for part in exchange.content.parts
        if part.name == member
    )


def _searches(body: dict[str, Any]) -> int:
    """The search units of a reranking, as Cohere counts them: a query with up to 100 documents."""
    documents = body.get("documents") or body.get("texts")
    size = len(documents) if isinstance(documents, list) else 0
    return max(-(-size // _DOCUMENTS_OF_A_SEARCH), 1)


def _text_size(value: object) -> int:
    """Characters in all strings of a value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_text_size, value.values()))
    return sum(map(_text_size, value)) if isinstance(value, list) else 0


def _output(body: dict[str, Any], fields: OutputFields) -> int:
    """The most output tokens: the limit of one answer times the number of answers."""
    present = fields.members.intersection(body)
    if not present:
        return DEFAULT_OUTPUT
    if len(present) == 1 and present <= fields.simple_limits:  # most requests
        limit = body[next(iter(present))]
        if type(limit) is int and 0 <= limit <= MAX_COUNT:
            return limit
    limit = _first_count(body, fields.limits, DEFAULT_OUTPUT)
    answers = _first_count(body, fields.answers, 1)
    return min(
        (DEFAULT_OUTPUT if limit is None else limit) * min(answers or 1, _MAX_ANSWERS), MAX_COUNT
    )


def _first_count(body: dict[str, Any], paths: tuple[Path, ...], least: int) -> int | None:
    """The first count of these members. A text counts as `least` or more, because an upstream may
    ignore it."""
    for path in paths:
        value = member_at(body, path)
        if (number := count(value)) is not None:
            return max(number, least) if isinstance(value, str) else number
    return None


def output_tokens(sample: bytes, size: int, output: OutputMembers) -> int:
    """Tokens of output in an answer of `size` bytes, estimated from its beginning `sample`."""
    text = output_bytes(sample, output)
    if text <= 0:
        return 0
    return max(1, text * size // (len(sample) * BYTES_PER_TOKEN))


def output_bytes(text: bytes, output: OutputMembers) -> int:
    """The bytes of output in JSON, which may be cut off: of the strings and of the objects that are
    output, such as the arguments of tool calls."""
    pattern, size, at = _output_pattern(output), 0, 0
    while (match := pattern.search(text, at)) is not None:
        string = match[1]
        if string is not None:
            size, at = size + len(string) - 3 * string.count(b"\\u"), match.end()
        else:
            at = value_end(text, match.start(2))
            length = at - match.start(2)
            size += length if length > len("{}") else 0  # an empty one stands for one that follows
    return size


def output_start(text: bytes, output: OutputMembers) -> int:
    """Where the first string or object that is output begins, -1 for none; it is not empty."""
    match = _some_output(output).search(text)
    return -1 if match is None else match.start()


@cache
def _output_pattern(output: OutputMembers) -> re.Pattern[bytes]:
    """A member that is output: group 1 is its string, without the quotation marks, or else group 2
    begins its object."""
    string = _member(output.strings) + rb'"([^"\\]*+(?:\\.[^"\\]*+)*)'
    return re.compile(string + rb"|" + _member(output.objects) + rb"(\{)", re.DOTALL)


@cache
def _some_output(output: OutputMembers) -> re.Pattern[bytes]:
    string, value = _member(output.strings) + rb'"[^"]', _member(output.objects) + rb"\{\s*+\""
    return re.compile(string + rb"|" + value)


def _member(names: tuple[str, ...]) -> bytes:
    """The pattern of a member of one of these names, up to its value; no member for no name."""
    if not names:
        return rb"(?!)"
    return rb'"(?:' + b"|".join(re.escape(name.encode()) for name in names) + rb')"\s*+:\s*+'


def estimated_usage(estimate: Usage, output: int) -> Usage:
    """The usage of an answer that reports none: the estimate, with the `output` tokens counted in
    the answer."""
    return replace(estimate, output=output, reasoning=0, source="estimated")


def with_request_counts(reported: Usage, estimate: Usage) -> Usage:
    """Reported usage, with what the estimate of the request knows and answers do not report: the
    characters to be spoken, the search units of a reranking that reports tokens, and the tokens
    of one that reports search units."""
    if estimate.characters:
        return replace(reported, characters=estimate.characters)
    if not estimate.searches:
        return reported
    if not reported.searches:
        return replace(reported, searches=estimate.searches)
    return reported if reported.input else replace(reported, input=estimate.input)
