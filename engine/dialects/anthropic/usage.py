"""Usage in the answers of the Anthropic dialect (`usage`)."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from engine.dialects.interface.usage import Count, Meter, OutputMembers
from engine.dialects.interface.usage_counts import (
    TokenParts,
    counts_in,
    object_in,
    token_usage,
)
from engine.values.trees import Json
from engine.values.usage import Usage

_COUNTS = frozenset(
    {"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"}
)
_CACHE = frozenset({"cache_creation_input_tokens", "cache_read_input_tokens"})
_DETAILS = ("cache_creation", "output_tokens_details")
_MAX_ITERATIONS = 100


def usage_of(document: object) -> Usage | None:
    """The usage that a message, or an event of one, reports.

    `input_tokens` exclude the tokens that were read from the prompt cache or written to it. The
    top-level counts exclude compaction, which `iterations` lists (the vendor's documentation of
    compaction, section "Usage").
    """
    return _total_in(_counts(document))


def _total_in(counts: Json) -> Usage | None:
    """The usage of the `usage` object of a message, with its compactions."""
    total = _usage_in(counts)
    iterations = counts.get("iterations")
    for run in iterations[:_MAX_ITERATIONS] if isinstance(iterations, list) else ():
        if isinstance(run, dict) and run.get("type") == "compaction":
            compaction = _usage_in(run)
            total = total + compaction if total and compaction else total or compaction
    return total


def _counts(document: object) -> Json:
    """The `usage` object of a message or an event; empty for none."""
    if not isinstance(document, dict):
        return {}
    message = document.get("message")  # message_start
    return object_in(message if isinstance(message, dict) else document, "usage")


class _CacheCreation(Struct):
    ephemeral_5m_input_tokens: Count = None
    ephemeral_1h_input_tokens: Count = None


class _OutputDetails(Struct):
    thinking_tokens: Count = None


_NO_CREATION, _NO_DETAILS = _CacheCreation(), _OutputDetails()


class _TokenCounts(Struct):
    input_tokens: Count = None
    output_tokens: Count = None
    cache_read_input_tokens: Count = None
    cache_creation_input_tokens: Count = None
    cache_creation: _CacheCreation | None = None
    output_tokens_details: _OutputDetails | None = None


def _usage_in(holder: Json) -> Usage | None:
    return _usage_from(counts_in(holder, _TokenCounts))


def _usage_from(counts: _TokenCounts) -> Usage | None:
    creation = counts.cache_creation or _NO_CREATION
    plain, output = counts.input_tokens, counts.output_tokens
    cached, cache_write = counts.cache_read_input_tokens, counts.cache_creation_input_tokens
    write_5m, write_1h = creation.ephemeral_5m_input_tokens, creation.ephemeral_1h_input_tokens
    if cache_write is None and (write_5m, write_1h) != (None, None):
        cache_write = (write_5m or 0) + (write_1h or 0)
    if plain is None and output is None and cached is None and cache_write is None:
        return None
    details = counts.output_tokens_details or _NO_DETAILS
    return token_usage(
        (plain or 0) + (cached or 0) + (cache_write or 0),
        output or 0,
        TokenParts(cached=cached or 0, cache_write=cache_write or 0, cache_write_1h=write_1h or 0),
        TokenParts(reasoning=details.thinking_tokens or 0),
    )


class _LastFields:
    """message_start reports the input, each message_delta the totals so far: the last value of each
    field counts. A null or a zero does not replace a value, as some upstreams repeat fields without
    their values.
    """

    def __init__(self) -> None:
        self.ended = False
        self._counts: Json = {}
        self._usage: Usage | None = None
        self._is_read = True

    def take(self, document: Any) -> None:
        if not (counts := _counts(document)):
            return
        self._is_read, numbers = False, counts_in(counts, _TokenCounts)
        if not _CACHE.isdisjoint(counts) and _CACHE.isdisjoint(self._counts):
            self._exclude_cache(numbers)
        for key in _COUNTS:
            if number := getattr(numbers, key):
                self._counts[key] = number
        for key in _DETAILS:
            if (details := getattr(numbers, key)) is not None:
                later = {name: number for name, number in asdict(details).items() if number}
                self._counts[key] = self._counts.get(key, {}) | later
        if isinstance(iterations := counts.get("iterations"), list):
            self._counts["iterations"] = iterations
        is_delta = document.get("type") == "message_delta"
        self.ended = self.ended or (is_delta and _usage_from(numbers) is not None)

    def _exclude_cache(self, counts: _TokenCounts) -> None:
        """The first report of the cache: the input before it included the cache. DashScope and Kimi
        report it at the end, and there the input without it, which may be none."""
        cache = sum(getattr(counts, key) or 0 for key in _CACHE)
        if cache and (included := self._counts.pop("input_tokens", 0)):
            has_input = counts.input_tokens is not None
            self._counts["input_tokens"] = 0 if has_input else max(included - cache, 0)

    def usage(self) -> Usage | None:
        if not self._is_read:
            self._usage, self._is_read = _total_in(self._counts), True
        return self._usage


METER = Meter(
    usage_of=usage_of,
    tally=_LastFields,
    output=OutputMembers(("text", "thinking", "name", "partial_json"), ("input",)),
    excludes_cache=True,
)
