"""Members that stand near the beginning or the end of a JSON text too long to be parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import accumulate, islice
from typing import Any

from engine.metering.text_estimate import parsed
from engine.values.json_edit import spans

_MENTIONS = 8
"""How often a key is looked at: one that is said again and again is not what is looked for."""

_NESTING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]]', re.DOTALL)
_KIND = re.compile(rb'"type"\s*+:\s*+"([a-z_.]++)"')


def near_end(tail: bytes, key: str, deepest: int) -> Any:
    """The object or number that is the member `key` of an object that stands at most `deepest`
    brackets deep, 1 being the text's own; the outermost, of several the last one."""
    if key.encode() not in tail:
        return None
    found = None
    for match in reversed(list(_valued(key).finditer(tail))[-_MENTIONS:]):
        text = tail[match.end() :]
        start, end = spans(text, ())[0]
        closed = _closed(text[end:])
        if 1 <= closed <= deepest:
            found, deepest = parsed(text[start:end]), closed - 1
    return found


def near_start(head: bytes, key: str) -> Any:
    """The object or number that is the member `key` of the object that the text is."""
    if key.encode() not in head:
        return None
    for match in islice(_valued(key).finditer(head), _MENTIONS):
        if _depth(head[: match.start()]) == 1:
            text = head[match.end() :]
            start, end = spans(text, ())[0]
            return parsed(text[start:end])
    return None


def kind(head: bytes) -> str:
    """The `type` of the object that the text is, "" when it does not say one at once."""
    match = _KIND.search(head)
    return match[1].decode() if match and _depth(head[: match.start()]) == 1 else ""


@cache
def _valued(key: str) -> re.Pattern[bytes]:
    return re.compile(rb'"' + re.escape(key.encode()) + rb'"\s*+:\s*+(?=[{0-9])')


def _depth(text: bytes) -> int:
    """How many brackets are open at the end."""
    return sum(_steps(text))


def _closed(text: bytes) -> int:
    """How many of the brackets that were open before are closed in it; it may open others."""
    return -min(accumulate(_steps(text)), default=0)


def _steps(text: bytes) -> Iterator[int]:
    """1 for each bracket that opens, -1 for each that closes, outside strings."""
    tokens: list[bytes] = _NESTING.findall(text)
    return (1 if token in b"{[" else -1 for token in tokens if len(token) == 1)
