"""Reads usage from an answer as it passes, at constant memory.

`reader(meter, media_type)` is fed the upstream's bytes; at the end `reported()` is the usage that
the upstream reported, `complete(estimate)` estimates what it did not. An encoded answer is decoded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from engine.dialects.interface.usage import Meter
from engine.exchange.member_protocols import UsageReader
from engine.metering.estimate import BYTES_PER_TOKEN
from engine.metering.json_reader import PARSED_BODY, JsonReader
from engine.metering.recordings import CUES, last_cue
from engine.metering.sse_reader import EventReader
from engine.process.loop_turn import paced
from engine.values.content_coding import DecodeError, Decoder, coding_of, decoder
from engine.values.errors import EventTooLarge
from engine.values.event_json import json_or_none
from engine.values.usage import Usage

Clean = Callable[[bytes], bytes]
"""Given the next bytes of a stream, returns the events that are now complete. Raises
EventTooLarge."""


class Reader(UsageReader, Protocol):
    """Fed an answer's bytes in order; never raises. `size` is their number."""

    size: int

    def feed(self, data: bytes) -> None:
        """Read the next bytes; of a stream, one or more complete events."""


def reader(
    meter: Meter | None, media_type: str, encoding: str = "", clean: Clean | None = None
) -> Reader:
    """The reader for an answer of that media type (lower case, without parameters) and that
    Content-Encoding; one that cannot be decoded is estimated by its size. `clean` repairs the
    events of a stream that is encoded."""
    if encoding and coding_of(encoding):
        decoding = decoder(encoding)
        if decoding is None:
            return SizeReader(text=meter is not None and _is_metered(media_type))
        events = clean if media_type == "text/event-stream" else None
        return DecodingReader(decoding, reader(meter, media_type), events)
    if meter is not None and media_type == "text/event-stream":
        return EventReader(meter)
    if meter is not None and _is_metered(media_type):
        return JsonReader(meter)
    return SizeReader(media_type.startswith("text/"))


def _is_metered(media_type: str) -> bool:
    """Whether usage is read from answers of a media type."""
    is_json = media_type == "application/json" or media_type.endswith("+json")
    return is_json or media_type == "text/event-stream"


def usage_in(meter: Meter, media_type: str, body: bytes) -> Usage | None:
    """The usage in a complete answer; None where a reader is needed."""
    if media_type != "application/json" or len(body) > PARSED_BODY:
        return None
    return meter.usage_of(json_or_none(body))


class SizeReader:
    """Counts the bytes of an answer that reports no usage, like audio. `text`: it is plain text."""

    def __init__(self, text: bool = False) -> None:
        self.size = 0
        self._text = text
        self._end = b""

    def feed(self, data: bytes) -> None:
        self.size += len(data)
        if self._text:
            self._end = (self._end + data)[-CUES:]

    def usage(self) -> Usage | None:
        return None

    reported = usage

    def complete(self, estimate: Usage) -> Usage:
        output = self.size // BYTES_PER_TOKEN if self._text else 0
        if estimate.seconds and (end := last_cue(self._end)) is not None:  # subtitles
            estimate = replace(estimate, seconds=end)
        return replace(estimate, output=output, reasoning=0, source="estimated")


class DecodingReader:
    """Decodes an answer for another reader, up to the decoder's bound and the first error. A few
    bytes may decode to megabytes: the event loop has its turns between their pieces."""

    def __init__(self, decoding: Decoder, inner: Reader, clean: Clean | None = None) -> None:
        self.size = 0
        self.usage, self.reported, self.complete = inner.usage, inner.reported, inner.complete
        self._decoding: Decoder | None = decoding
        self._feed = inner.feed
        self._clean = clean

    def feed(self, data: bytes) -> None:
        self.size += len(data)
        if self._decoding is None:
            return
        try:
            for piece in paced(self._decoding.feed(data)):
                if self._clean is None:
                    self._feed(piece)
                elif events := self._clean(piece):
                    self._feed(events)
        except (DecodeError, EventTooLarge):
            self._decoding = None
