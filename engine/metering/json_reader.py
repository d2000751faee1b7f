"""Reads usage from an answer that is one JSON text, of any length.

A text that is too long to be parsed is searched for members near its beginning and its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import accumulate, islice
from typing import Any

from engine.dialects.interface.usage import Meter
from engine.metering.estimate import estimated_usage, output_tokens, with_request_counts
from engine.values.event_json import json_or_none
from engine.values.json_spans import NESTING, spans
from engine.values.usage import Usage

BUFFERED_BODY = 262_144
"""Bytes of a JSON answer that are buffered; of a longer one only its beginning and its end are."""

PARSED_BODY = 16_384
"""The longest JSON answer, in bytes, that is parsed; in a longer one the members are searched near
its end and its beginning, which costs less than parsing vectors and images."""

MAX_IMAGES = 1_000

_MENTIONS = 8
"""The most occurrences of a key that are tried."""

_STEPS = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}
_TYPE = re.compile(rb'"type"\s*+:\s*+"([a-z_.]++)"')


class JsonReader:
    """Reads a JSON answer, complete or cut off, also an array that is streamed."""

    size = 0
    _read_size = -1
    _usage: Usage | None = None
    _images = 0
    _head = b""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        self.size += len(data)
        self._buffer += data
        if len(self._buffer) > BUFFERED_BODY:
            self._shorten()

    def _shorten(self) -> None:
        """Keep the beginning and the end of the buffer."""
        buffer = self._buffer
        self._head = self._head or bytes(buffer[:PARSED_BODY])
        dropped = len(buffer) - PARSED_BODY
        if key := self._image_key:  # a key across the cut is counted here, not a second time later
            self._images += buffer.count(key, 0, dropped + len(key) - 1)
        del buffer[:dropped]

    @property
    def _image_key(self) -> bytes:
        """The member that each image has, in quotation marks; empty for a meter without one."""
        return b'"%b"' % self._meter.image.encode() if self._meter.image else b""

    def usage(self) -> Usage | None:
        if self._read_size != self.size:
            self._usage, self._read_size = self._read(), self.size
        return self._usage

    def _read(self) -> Usage | None:
        buffer = bytes(self._buffer)
        if self.size <= PARSED_BODY:
            document = json_or_none(buffer)
            if document is not None:
                return self._meter.usage_of(document)
        document = self._reduced(self._head or buffer[:PARSED_BODY], buffer[-PARSED_BODY:])
        if not document and not self._head and b'"%b"' % self._meter.key.encode() in buffer:
            return self._meter.usage_of(json_or_none(buffer))
        if key := self._image_key:
            images = min(self._images + buffer.count(key), MAX_IMAGES)
            document["data"] = [{self._meter.image: ""}] * images
        return self._meter.usage_of(document)

    reported = usage

    def _reduced(self, head: bytes, tail: bytes) -> dict[str, Any]:
        """The first of the meter's members in a body that is too long to be parsed."""
        array = head.lstrip()[:1] == b"["
        for key in self._meter.members:
            value = near_end(tail, key, 2 if array else 1)
            if value is None and not array:
                value = near_start(head, key)
            if value is not None:
                return {key: value}
        return {}

    def complete(self, estimate: Usage) -> Usage:
        usage = self.usage()
        if usage is not None:
            return with_request_counts(usage, estimate)
        sample = self._head or bytes(self._buffer)
        size = min(self.size, BUFFERED_BODY)  # a longer answer is not text
        return estimated_usage(estimate, output_tokens(sample, size, self._meter.output))


def near_end(tail: bytes, key: str, deepest: int) -> Any:
    """The object or number that is the member `key` of an object at most `deepest` brackets deep,
    1 being the outermost. Of several the outermost counts, and then the last."""
    if key.encode() not in tail:
        return None
    value = None
    for match in reversed(list(_member(key).finditer(tail))[-_MENTIONS:]):
        text = tail[match.end() :]
        start, end = spans(text, ())[0]
        closed = _closed(text[end:])
        if 1 <= closed <= deepest:
            value, deepest = json_or_none(text[start:end]), closed - 1
    return value


def near_start(head: bytes, key: str) -> Any:
    """The object or number that is the member `key` of the outermost object."""
    if key.encode() not in head:
        return None
    for match in islice(_member(key).finditer(head), _MENTIONS):
        if _depth(head[: match.start()]) == 1:
            text = head[match.end() :]
            start, end = spans(text, ())[0]
            return json_or_none(text[start:end])
    return None


def type_of(head: bytes) -> str:
    """The `type` of the outermost object, "" where it is not near the beginning."""
    for match in islice(_TYPE.finditer(head), _MENTIONS):
        if _depth(head[: match.start()]) == 1:
            return match[1].decode()
    return ""


@cache
def _member(key: str) -> re.Pattern[bytes]:
    return re.compile(rb'"' + re.escape(key.encode()) + rb'"\s*+:\s*+(?=[{0-9])')


def _depth(text: bytes) -> int:
    """The number of brackets that are open at the end."""
    return sum(_steps(text))


def _closed(text: bytes) -> int:
    """The number of brackets closed in the text that were opened before it."""
    return -min(accumulate(_steps(text)), default=0)


def _steps(text: bytes) -> Iterator[int]:
    """1 for each opening bracket, -1 for each closing one, outside strings."""
    tokens: list[bytes] = NESTING.findall(text)
    return (_STEPS[token] for token in tokens if token in _STEPS)
