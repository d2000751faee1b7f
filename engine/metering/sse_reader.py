"""The usage in a stream of events: one search for its key each, and only what has it is parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from engine.dialects.usage import Meter
from engine.metering.json_ends import kind, near_end
from engine.metering.text_estimate import (
    SAMPLE,
    parsed,
    tokens,
    with_known,
    without_counts,
)
from engine.values.usage import Usage

KEPT_EVENT = 65_536
"""Bytes of an event that are kept to be parsed at the end; a larger one is read at once."""

_ENDS = 4_096


class EventReader:
    """Of a stream of clean events (see `relay.sse.Cleaner`)."""

    def __init__(self, meter: Meter) -> None:
        self.size = 0
        self._name = meter.key
        self._key = b'"' + meter.key.encode() + b'"'
        self._filled = _filled(meter.key)
        self._repeats = meter.repeats
        self._tally = meter.tally()
        self._last = b""
        self._sample = bytearray()
        self._long = 0
        self._room = SAMPLE

    def feed(self, data: bytes) -> None:
        self.size += len(data)
        if self._room <= 0 and self._key not in data and len(data) <= KEPT_EVENT:
            return
        for events in (data,) if len(data) <= KEPT_EVENT else _apart(data):
            if len(events) > KEPT_EVENT:
                self._take_long(events)
                continue
            if self._room > 0:
                self._sample += events[: self._room]
                self._room -= len(events)
            at = events.find(self._key)
            if at >= 0:
                self._take(events, at)

    def _take(self, data: bytes, at: int) -> None:
        """The events `data`, of which one has the key at `at`."""
        if self._repeats:
            self._last = _event_at(data, data.rfind(self._key))[1]
            return
        while (match := self._filled.search(data, at)) is not None:
            at, event = _event_at(data, match.start())
            self._tally.take(document_of(event))

    def _take_long(self, event: bytes) -> None:
        self._long += len(event)
        at = event.find(self._key)
        if at >= 0 and self._filled.search(event, at) is not None:
            self._last = b""
            self._tally.take(self._reduced(event.removesuffix(b"\n\n")))

    def _reduced(self, event: bytes) -> Any:
        """The kind and the usage of an event that costs too much to parse, where they stand near
        its ends: an image of megabytes."""
        value = near_end(event[-_ENDS:], self._name, 2)
        if value is None:
            return document_of(event)
        head = event[:_ENDS]
        return {"type": kind(head[head.find(b"data: ") + 6 :]), self._name: value}

    def usage(self) -> Usage | None:
        if self._last:
            self._tally.take(document_of(self._last))
            self._last = b""
        return self._tally.usage()

    def told(self) -> Usage | None:
        said = self.usage()
        return said if self._tally.ended else None

    def complete(self, estimate: Usage) -> Usage:
        said = self.usage()
        if said is not None and self._tally.ended:
            return with_known(said, estimate)
        output = tokens(bytes(self._sample), self.size - self._long)  # a long one is an image
        if said is not None:
            said = replace(said, output=max(output, said.output), source="estimated")
            return with_known(said, estimate)
        return without_counts(estimate, output)


def document_of(event: bytes) -> Any:
    """The JSON of a clean event's data; None for what is not JSON, like `[DONE]`."""
    lines = [line[6:] for line in event.split(b"\n") if line.startswith(b"data: ")]
    return parsed(b"\n".join(lines))


def _apart(data: bytes) -> Iterator[bytes]:
    """Each event by itself. A search for one byte is far quicker than for two."""
    start = at = 0
    while (at := data.find(b"\n", at) + 1) > 0:
        if data[at : at + 1] == b"\n":
            yield data[start : at + 1]
            start = at = at + 1
    if start < len(data):
        yield data[start:]


def _event_at(data: bytes, at: int) -> tuple[int, bytes]:
    """The event around `at`, and where it ends."""
    start = data.rfind(b"\n\n", 0, at)
    start = 0 if start < 0 else start + 2
    end = data.find(b"\n\n", at)
    end = len(data) if end < 0 else end
    return end, data[start:end]


@cache
def _filled(key: str) -> re.Pattern[bytes]:
    """The key with an object that has members: `"usage":null` is what most events say."""
    return re.compile(rb'"' + re.escape(key.encode()) + rb'"\s*+:\s*+\{\s*+"')
