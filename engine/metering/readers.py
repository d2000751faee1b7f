"""Reading what a request used from its answer as it passes, at constant memory.

`reader(meter, media_type)` is fed what comes from the upstream; at the end `told()` gives what it
said, `complete(estimate)` fills in what it did not. An answer that came encoded is decoded for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from engine.dialects.usage import Meter
from engine.metering.json_reader import PARSED_BODY, BodyReader
from engine.metering.sse_reader import EventReader
from engine.metering.text_estimate import BYTES_PER_TOKEN, parsed
from engine.values.content_coding import Decoder, Undecodable, decoder
from engine.values.errors import EventTooLarge
from engine.values.usage import Usage

Clean = Callable[[bytes], bytes]
"""Given the next bytes of a stream, returns the whole events that are now complete. Raises
EventTooLarge."""


class Reader(Protocol):
    """Fed an answer's bytes in order; never raises. `size` is how many they were."""

    size: int

    def feed(self, data: bytes) -> None:
        """The next bytes: of a stream of events, one or more whole ones."""

    def usage(self) -> Usage | None:
        """What the upstream said, None when it said nothing."""

    def told(self) -> Usage | None:
        """What the upstream said when it said all, None when `complete` is needed."""

    def complete(self, estimate: Usage) -> Usage:
        """What the upstream said, or `estimate` (made of the request) with the output counted by
        the text that came."""


def reader(
    meter: Meter | None, media_type: str, encoding: str = "", clean: Clean | None = None
) -> Reader:
    """The reader for an answer of that media type (lower case, without parameters) and that
    Content-Encoding. `clean` repairs the events of a stream that is encoded."""
    if encoding and (decodes := decoder(encoding)) is not None:
        events = clean if media_type == "text/event-stream" else None
        return DecodingReader(decodes, reader(meter, media_type), events)
    if meter is not None and media_type == "text/event-stream":
        return EventReader(meter)
    if meter is not None and (media_type == "application/json" or media_type.endswith("+json")):
        return BodyReader(meter)
    return SizeReader(media_type.startswith("text/"))


def usage_in(meter: Meter, media_type: str, body: bytes) -> Usage | None:
    """What an answer that came whole says; None where a reader is to look closer."""
    if media_type != "application/json" or len(body) > PARSED_BODY:
        return None
    return meter.usage_of(parsed(body))


class SizeReader:
    """Of an answer that says no counts, like sound: only its size. `text`: it is plain text."""

    def __init__(self, text: bool = False) -> None:
        self.size = 0
        self._text = text

    def feed(self, data: bytes) -> None:
        self.size += len(data)

    def usage(self) -> Usage | None:
        return None

    told = usage

    def complete(self, estimate: Usage) -> Usage:
        output = self.size // BYTES_PER_TOKEN if self._text else 0
        return replace(estimate, output=output, reasoning=0, source="estimated")


class DecodingReader:
    """Of an encoded answer: gives another reader what it decodes to, up to the decoder's bound.
    What is not what its encoding says, or longer, is read as far as it went."""

    def __init__(self, decodes: Decoder, inner: Reader, clean: Clean | None = None) -> None:
        self.size = 0
        self.usage, self.told, self.complete = inner.usage, inner.told, inner.complete
        self._decodes: Decoder | None = decodes
        self._feed = inner.feed
        self._clean = clean

    def feed(self, data: bytes) -> None:
        self.size += len(data)
        if self._decodes is None:
            return
        try:
            for piece in self._decodes.feed(data):
                if self._clean is None:
                    self._feed(piece)
                elif events := self._clean(piece):
                    self._feed(events)
        except (Undecodable, EventTooLarge):
            self._decodes = None
