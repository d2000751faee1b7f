"""Reads a large message without parsing what it nests: that may take a worker's loop too long.

The law: the members of the outermost object are known, with their texts and numbers; each object or
array below is passed on as it is written, to be judged by the process that parses it. The search
for their ends gives way to other greenlets.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import NamedTuple

import orjson

from engine.process.loop_turn import await_turn
from engine.values.trees import Json

WINDOW = 8192
"""Bytes that are searched between two looks at the clock."""

_SECONDS = 0.001
_MAX_SMALL = 1_000_000
"""Bytes of members that are no long text, object or array: those are parsed at once."""

_UNTIL_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)
"""Matches up to a bracket, or to the quote of a text that goes on behind the window."""

_REST_OF_TEXT = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_QUOTE = ord('"')
_PAIRS = (b"[]", b"{}")


class LargeMessage(NamedTuple):
    """The members of a message, as they are written again. `items` are those of an `input` that is
    an array, else None."""

    members: Json
    items: bytes | None


def read_large_message(data: bytes) -> LargeMessage | None:
    """The members of a message; None if it is not an object. Raises orjson.JSONDecodeError for JSON
    that is wrong outside of what it nests."""
    skeleton, end, values = bytearray(), 0, list[bytes]()
    for start, stop in _spans(data):
        skeleton += b"%b[%d]" % (data[end:start], len(values))  # its only arrays, so each is known
        values.append(data[start:stop])
        end = stop
    await_turn()  # the values were copied, and are once more
    members = orjson.loads(skeleton + data[end:])
    if not isinstance(members, dict):
        return None
    items = None
    for name, value in members.items():
        if isinstance(value, list):
            text = values[value[0]]
            members[name] = orjson.Fragment(text)
            if name == "input" and text.startswith(b"["):
                items = text[1:-1].strip()
    return LargeMessage(members, items)


def _spans(data: bytes) -> Iterator[tuple[int, int]]:
    """Start and end of each object and array that is a member of the outermost one."""
    size, at, limit, depth, start, small = len(data), 0, 0, 0, 0, 0
    is_text, since = False, time.perf_counter()
    while at < size:
        if at >= limit:
            limit = min(at + WINDOW, size)
            if time.perf_counter() - since > _SECONDS:
                await_turn()
                since = time.perf_counter()
        pattern, begin = (_REST_OF_TEXT if is_text else _UNTIL_BRACKET), at
        match = pattern.match(data, at, limit)
        assert match is not None  # it may be empty
        at = match.end()
        if depth < 2 and not is_text and (small := small + at - begin) > _MAX_SMALL:
            raise _invalid("too many members", at)
        if at >= limit:
            continue
        byte, at = data[at], at + 1
        if is_text:
            is_text = byte != _QUOTE
            at += is_text  # of an escape, the second byte is behind the window
        elif byte == _QUOTE:
            is_text = True
        elif byte in b"[{":
            depth += 1
            start = at - 1 if depth == 2 else start
        else:
            depth -= 1
            if depth == 1:
                if data[start : start + 1] + data[at - 1 : at] not in _PAIRS:
                    raise _invalid("a bracket of another kind", at)
                yield start, at
    if depth:
        raise _invalid("the end is missing", at)


def _invalid(reason: str, at: int) -> orjson.JSONDecodeError:
    return orjson.JSONDecodeError(reason, "", at)
