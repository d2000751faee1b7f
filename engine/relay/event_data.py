"""The data of a server-sent event as servers write it, in the form that SDKs read."""

from __future__ import annotations

import re

from engine.dialects.interface.streams import END_MARKER
from engine.values.event_json import json_or_none

ALIVE = rb"(?i:ping|keep-?alive|heartbeat)"
_ALIVE_NAME = re.compile(ALIVE)
ALIVE_DATA = re.compile(rb":|\[?" + ALIVE + rb"\]?\n|\"\"\n")
"""The name of an event that keeps a connection alive, and the beginning of a line of data that does
and is no JSON, such as `data: : keepalive` of Vertex AI
(https://github.com/anomalyco/opencode/issues/50871)."""
_LINE_ENDS = bytes.maketrans(b"\r\n", b"  ")
_PREFIXED = re.compile(rb"\s*+(?:data:\s*+)*+")
_END_WORD = re.compile(rb"(?i)\"?(?:\[ *done *\]|done)\"?")
"""The end marker as servers write it: in quotation marks, in lower case, without brackets."""


def keeps_alive(name: bytes, line: bytes) -> bool:
    """Whether an event with one line of data says nothing but that the connection is alive."""
    if ALIVE_DATA.match(line + b"\n"):
        return True
    return _ALIVE_NAME.fullmatch(name) is not None and line[:1] not in (b"{", b"[")


def amended(data: list[bytes]) -> list[bytes]:
    """The lines of data in the form that SDKs read: an object on one line, which servers also
    indent, write as a text, put alone into an array or behind a second `data:`; and the end
    marker. Other data is left as it is."""
    text = data[0] if len(data) == 1 else b" ".join(data)
    if text[:1] == b"{":
        return [text] if len(data) > 1 and is_whole(text) else data
    text = text[_PREFIXED.match(text).end() :].rstrip()  # type: ignore[union-attr]  # it can be ""
    if _END_WORD.fullmatch(text):
        return [END_MARKER]
    if text[:1] in (b'"', b"["):
        value = json_or_none(text)
        text = value.encode() if isinstance(value, str) else text[1:-1]
        text = text.translate(_LINE_ENDS).strip()  # what ends a line ends the data
        if isinstance(value, list) and len(value) != 1:
            return data
    return [text] if text[:1] == b"{" and is_whole(text) else data


def is_whole(line: bytes) -> bool:
    """Whether a line of data is all of an event: an object, or the end marker."""
    text = line.strip()
    return text == END_MARKER or (text[:1] == b"{" and json_or_none(text) is not None)
