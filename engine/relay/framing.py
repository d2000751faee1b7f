"""The framing of an answer by its first bytes, and a JSON array read as server-sent events."""

from __future__ import annotations

import re

from engine.dialects.interface.streams import Framing
from engine.process.loop_turn import pacer
from engine.relay.filter import Filter, Unreadable
from engine.relay.sse import MAX_EVENT
from engine.values.event_json import json_or_none

_BOM = b"\xef\xbb\xbf"
_FIELDS = (b"data:", b"event:", b"id:", b"retry:")
_MAX_FIELD = max(map(len, _FIELDS))
_MAX_HEAD = 1_024
"""Bytes of white space after which an answer has no framing that is known, and of an object in
which it says that it is the first event of a stream."""

_CHUNK = re.compile(
    rb'"object"\s*+:\s*+"chat\.completion\.chunk"'
    rb'|"type"\s*+:\s*+"(?:message_start|response\.created|content_block_start)"'
)
"""In the first event of a stream. One that stands alone is a line of JSON, which servers write in
place of server-sent events: lines are read as the items of an array."""

_LINE_ENDS = bytes.maketrans(b"\r\n", b"  ")
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+("?)|[\[\]{}]', re.DOTALL)
_FLAT_ITEM = re.compile(rb'\{[^][{}"]*+\}')
_FLAT_ITEMS = re.compile(rb'(?:[^][{}"]*+\{[^][{}"]*+\}){1,500}')
_STRING_REST = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+("?)', re.DOTALL)


def framing_of(start: bytes, *, ended: bool = False) -> Framing | None:
    """The framing that the first bytes of an answer show, or all of them if it has `ended`; None if
    more of them are needed."""
    if start.startswith(_FIELDS):  # nearly every stream
        return Framing.EVENTS
    if _BOM.startswith(start):
        return None
    text = start.removeprefix(_BOM).lstrip()
    first = text[:1]
    if first == b"{":
        if _CHUNK.search(text, 0, _MAX_HEAD):
            return Framing.ARRAY
        is_whole = ended or len(text) >= _MAX_HEAD or json_or_none(text) is not None
        return Framing.WHOLE if is_whole else None
    if first == b"[":
        return Framing.ARRAY
    if first == b":" or text.startswith(_FIELDS):
        return Framing.EVENTS
    if not text:
        return None if len(start) <= _MAX_HEAD else Framing.UNKNOWN
    if len(text) < _MAX_FIELD and any(field.startswith(text) for field in _FIELDS):
        return None
    return Framing.UNKNOWN


class ArrayEvents(Filter):
    """Turns a JSON array into server-sent events: each of its objects is the data of one. An object
    that stands alone is one, too."""

    def __init__(self) -> None:
        self._buffer = bytearray()  # from the item that has begun
        self._at = 0  # what is before it has been read
        self._depth = 0
        self._in_string = False
        self._begun = False
        self._array = 1  # the depth of an item: 0 for an object that stands alone

    def feed(self, data: bytes) -> bytes:
        """The events of the items that `data` completes."""
        self._buffer += data
        events: list[bytes] = []
        pace = pacer()
        while self.failure is None and (self._read_items(events) or self._read_token(events)):
            pace()
        if self._depth <= self._array:
            del self._buffer[: self._at]  # between two items
            self._at = 0
        elif len(self._buffer) > MAX_EVENT:
            self.failure = Unreadable(
                f"the upstream's array has an item of more than {MAX_EVENT} bytes"
            )
        return b"".join(events)

    def finish(self) -> bytes:
        """No event: an array that is not closed is a failure."""
        if self._depth > 0 or not self._begun:
            self.failure = EOFError("the array is not closed")
        return b""

    def _read_items(self, events: list[bytes]) -> bool:
        """Read the next items without strings and brackets. Returns whether there are some."""
        if self._depth != self._array or not self._begun or self._in_string:
            return False
        match = _FLAT_ITEMS.match(self._buffer, self._at)
        if match is None:
            return False
        self._at = match.end()
        items = _FLAT_ITEM.findall(match[0].translate(_LINE_ENDS))
        events.extend(b"data: " + item + b"\n\n" for item in items)
        return True

    def _read_token(self, events: list[bytes]) -> bool:
        """Read up to the next bracket, or the end of a string. Returns whether there is one."""
        if self._in_string:
            match = _STRING_REST.match(self._buffer, self._at)
        else:
            match = _TOKEN.search(self._buffer, self._at)
        if match is None:
            self._at = len(self._buffer)
            return False
        self._at = match.end()
        token = match[0]
        if self._in_string or token[:1] == b'"':
            self._in_string = match[1] == b""
            return not self._in_string
        if token in b"[{":
            self._open(match.start(), token)
        else:
            self._close(events)
        return True

    def _open(self, at: int, token: bytes) -> None:
        if not self._begun and token == b"{":
            self._array = 0
        if self._depth == self._array:
            del self._buffer[:at]
            self._at -= at
        self._begun = True
        self._depth += 1

    def _close(self, events: list[bytes]) -> None:
        self._depth = max(self._depth - 1, 0)
        if self._depth == self._array:
            item = bytes(self._buffer[: self._at]).translate(_LINE_ENDS)
            events.append(b"data: " + item + b"\n\n")
            del self._buffer[: self._at]
            self._at = 0
