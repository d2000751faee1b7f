"""The usage in an answer that is one JSON text, of any length."""

from __future__ import annotations

from typing import Any

from engine.dialects.usage import Meter
from engine.metering.json_ends import near_end, near_start
from engine.metering.text_estimate import (
    parsed,
    tokens,
    with_known,
    without_counts,
)
from engine.values.usage import Usage

KEPT_BODY = 262_144
"""Bytes of a JSON answer that are kept; of a longer one its beginning and its end are."""

PARSED_BODY = 16_384
"""Bytes of a JSON answer that are parsed whole; in a longer one the members are looked for near
its end and its beginning, which costs less than parsing vectors and images."""

MOST_IMAGES = 1_000


class BodyReader:
    """Of an answer in JSON, whole or cut, also an array that is streamed."""

    def __init__(self, meter: Meter) -> None:
        self.size = 0
        self._meter = meter
        self._image = b'"%b"' % meter.image.encode() if meter.image else b""
        self._images = 0
        self._head = b""
        self._kept = bytearray()

    def feed(self, data: bytes) -> None:
        self.size += len(data)
        self._kept += data
        if len(self._kept) > KEPT_BODY:
            self._shorten()

    def _shorten(self) -> None:
        """Keep the end only; the beginning has been put aside."""
        kept = self._kept
        self._head = self._head or bytes(kept[:PARSED_BODY])
        dropped = len(kept) - PARSED_BODY
        if self._image:  # a key that stands across the cut is counted here, and not again
            self._images += kept.count(self._image, 0, dropped + len(self._image) - 1)
        del kept[:dropped]

    def usage(self) -> Usage | None:
        kept = bytes(self._kept)
        if self.size <= PARSED_BODY:
            document = parsed(kept)
            if document is not None:
                return self._meter.usage_of(document)
        document = self._reduced(self._head or kept[:PARSED_BODY], kept[-PARSED_BODY:])
        if not document and not self._head and b'"%b"' % self._meter.key.encode() in kept:
            return self._meter.usage_of(parsed(kept))
        if self._image:
            images = min(self._images + kept.count(self._image), MOST_IMAGES)
            document["data"] = [{self._meter.image: ""}] * images
        return self._meter.usage_of(document)

    told = usage

    def _reduced(self, head: bytes, tail: bytes) -> dict[str, Any]:
        """The first of the members that tell the usage, of a body that is too long to be parsed."""
        array = head.lstrip()[:1] == b"["
        for key in self._meter.members:
            value = near_end(tail, key, 2 if array else 1)
            if value is None and not array:
                value = near_start(head, key)
            if value is not None:
                return {key: value}
        return {}

    def complete(self, estimate: Usage) -> Usage:
        said = self.usage()
        if said is not None:
            return with_known(said, estimate)
        sample = self._head or bytes(self._kept[:PARSED_BODY])
        output = tokens(sample, min(self.size, KEPT_BODY))  # what is longer is no text
        return without_counts(estimate, output)
