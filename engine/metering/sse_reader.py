"""Reads usage from a stream of events: only events with one key are parsed."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from msgspec.structs import replace

from engine.dialects.interface.usage import Meter
from engine.metering.estimate import (
    BYTES_PER_TOKEN,
    SAMPLE,
    estimated_usage,
    output_bytes,
    output_start,
    output_tokens,
    with_request_counts,
)
from engine.metering.json_reader import near_end, type_of
from engine.process.loop_turn import await_turn, paced
from engine.values.event_json import event_json, split_events
from engine.values.usage import Usage

BUFFERED_EVENT = 65_536
"""The largest event, in bytes, that is buffered to be parsed at the end; a larger one is read at
once."""

_EDGE_BYTES = 4_096
_LONG_SAMPLE = 262_144
"""Bytes of a longer event that stand for all of it, when the bytes of output are counted."""


class EventReader:
    """Reads a stream of clean events (see `relay.sse.Cleaner`)."""

    def __init__(self, meter: Meter) -> None:
        self.size = 0
        self._spell(meter.key)
        self._other_key = b'"%b"' % meter.other_key.encode() if meter.other_key else b""
        self._repeats = False  # the first report is read, as later ones may leave counts out
        self._later_repeat = meter.repeats
        self._tally = meter.tally()
        self._output = meter.output
        self._last = b""  # the last events with the key, where each event reports everything
        self._sample = bytearray()  # from the first event with output
        self._sample_left = SAMPLE
        self._unsampled = 0  # bytes before the sample, and of long events
        self._long_output = 0  # bytes of output in long events

    def _spell(self, key: str) -> None:
        """Look for the member that holds the counts under this name."""
        self._name, self._key, self._nonempty = key, b'"%b"' % key.encode(), _nonempty(key)
        self._other_key = b""

    def feed(self, data: bytes) -> None:
        size = len(data)
        self.size += size
        if size > BUFFERED_EVENT:
            for event in paced(split_events(data)):
                if len(event) > BUFFERED_EVENT:
                    self._take_long(event)
                else:
                    self._take(event)
        elif self._sample_left > 0 or data.find(self._key) >= 0:
            self._take(data)

    def _take(self, data: bytes) -> None:
        """Read events: the first of a stream are a sample, the others may report usage."""
        if self._sample_left > 0:
            self._sample += data if self._sample else self._from_output(data)
            self._sample_left = SAMPLE - len(self._sample)
        at = data.find(self._key)
        if at < 0:
            if not self._other_key or (at := data.find(self._other_key)) < 0:
                return
            self._spell(self._other_key[1:-1].decode())
        if self._repeats:
            self._last = data
            return
        while (match := self._nonempty.search(data, at)) is not None:
            at, event = _event_at(data, match.start())
            self._tally.take(event_json(event))
        self._repeats = self._later_repeat

    def _from_output(self, data: bytes) -> bytes:
        """The events from the first one with output. Those before it are no sample: a stream may
        begin with the request's instructions and tools."""
        at = output_start(data, self._output)
        start = len(data) if at < 0 else max(data.rfind(b"\n\n", 0, at), 0)
        self._unsampled += start
        return data[start:]

    def _take_long(self, event: bytes) -> None:
        self._unsampled += len(event)
        sample = event[:_LONG_SAMPLE]
        self._long_output += output_bytes(sample, self._output) * len(event) // len(sample)
        await_turn()  # so far it was split and sampled
        at = event.rfind(self._key)  # which takes half the time of `find`
        if at < 0:
            return
        if self._nonempty.search(event, at) or self._nonempty.search(event, event.find(self._key)):
            self._last = b""
            self._tally.take(self._reduced(event.removesuffix(b"\n\n")))

    def _reduced(self, event: bytes) -> Any:
        """The type and the usage of an event with an image of megabytes, searched near its ends, as
        parsing it costs too much; the parsed event if they are not there."""
        value = near_end(event[-_EDGE_BYTES:], self._name, 2)
        if value is None:
            return event_json(event)
        head = event[:_EDGE_BYTES]
        return {"type": type_of(head[head.find(b"data: ") + 6 :]), self._name: value}

    def usage(self) -> Usage | None:
        if self._last:
            _, event = _event_at(self._last, self._last.rfind(self._key))
            self._tally.take(event_json(event))
            self._last = b""
        return self._tally.usage()

    def reported(self) -> Usage | None:
        usage = self.usage()
        return usage if self._tally.ended else None

    def complete(self, estimate: Usage) -> Usage:
        usage = self.usage()
        if usage is not None and self._tally.ended:
            return with_request_counts(usage, estimate)
        output = output_tokens(self._sampled(), self.size - self._unsampled, self._output)
        output += self._long_output // BYTES_PER_TOKEN
        if usage is None:
            return estimated_usage(estimate, output)
        usage = replace(usage, output=max(output, usage.output), source="estimated")
        return with_request_counts(usage, estimate)

    def _sampled(self) -> bytes:
        """The sample; events that repeat output are replaced by as many blanks."""
        sample, repeats = bytes(self._sample[:SAMPLE]), self._output.repeats
        if repeats is None or repeats.search(sample) is None:
            return sample
        return b"".join(
            event if repeats.search(event) is None else b" " * len(event)
            for event in split_events(sample)
        )


def _event_at(data: bytes, at: int) -> tuple[int, bytes]:
    """The end of the event around `at`, and the event."""
    start = data.rfind(b"\n\n", 0, at)
    start = 0 if start < 0 else start + 2
    end = data.find(b"\n\n", at)
    end = len(data) if end < 0 else end
    return end, data[start:end]


@cache
def _nonempty(key: str) -> re.Pattern[bytes]:
    """The key with an object that has members; most events have `"usage":null`. It may stand on
    several lines of the data."""
    blank = rb"(?:\ndata: |\s)*+"
    return re.compile(rb'"%b"%b:%b\{%b"' % (re.escape(key.encode()), blank, blank, blank))
