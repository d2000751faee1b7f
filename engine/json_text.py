"""Where a value stands in JSON text, so that it can be replaced with all other bytes unchanged."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from mmap import mmap

Buffer = bytes | mmap

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TOKEN = re.compile(_STRING + rb'|[{}\[\]:,]|[^\s{}\[\]:,"]++', re.DOTALL)
_OBJECT = re.compile(rb"\s*\{")
_VALUE_AFTER_KEY = re.compile(rb"\s*:\s*(" + _STRING + rb")", re.DOTALL)


class Ambiguous(ValueError):
    """A key on the way to the value is repeated, so that two readers may see two values."""


def span(text: Buffer, pointer: tuple[str, ...]) -> tuple[int, int] | None:
    """Start and end of the value at `pointer` in valid JSON, or None when there is none.

    `pointer` holds the unescaped steps of a JSON Pointer (RFC 6901). Raises Ambiguous when a key
    on the way stands twice in one object.
    """
    if len(pointer) == 1 and _OBJECT.match(text):
        found = _only_mention(text, pointer[0])
        if found is not None:
            return found
    every = spans(text, pointer)
    return every[0] if every else None


def spans(text: Buffer, pointer: tuple[str, ...]) -> list[tuple[int, int]]:
    """As `span`, for a pointer whose step `*` stands for every item of an array."""
    tokens = _TOKEN.finditer(text)
    found: list[tuple[int, int]] = []
    _value(next(tokens), tokens, pointer, found)
    return found


def _only_mention(text: Buffer, key: str) -> tuple[int, int] | None:
    """The string value of the one place that says `"key"`; None where a full walk must decide.

    With a single mention and no escaped spelling of a letter (`\\u00..`), that mention is the key
    the parser saw at the top, provided that the caller knows there is one.
    """
    quoted = b'"' + key.encode() + b'"'
    at = text.find(quoted)
    if at < 0 or text.find(quoted, at + 1) >= 0 or text.find(b"\\u00") >= 0:
        return None
    match = _VALUE_AFTER_KEY.match(text, at + len(quoted))
    return match.span(1) if match else None


def _value(
    first: re.Match[bytes],
    tokens: Iterator[re.Match[bytes]],
    pointer: tuple[str, ...],
    found: list[tuple[int, int]],
) -> int:
    """Read one value whose first token is given; note it when the pointer ends here.

    Recurses only along the pointer; everything beside it is skipped by counting brackets.
    Returns where the value ends.
    """
    opener = first[0]
    if not pointer or opener not in (b"{", b"["):
        end = _skip(first, tokens)
        if not pointer:
            found.append((first.start(), end))
        return end
    matches = 0
    index = 0
    for token in tokens:
        if token[0] in (b"}", b"]"):
            return token.end()
        if token[0] == b",":
            continue
        if opener == b"{":
            matched = _text(token[0]) == pointer[0]
            next(tokens)
            token = next(tokens)
        else:
            matched = pointer[0] in ("*", str(index))
            index += 1
        if not matched:
            _skip(token, tokens)
            continue
        matches += 1
        if matches > 1 and pointer[0] != "*":
            raise Ambiguous(f"key '{pointer[0]}' is repeated")
        _value(token, tokens, pointer[1:], found)
    return first.end()


def _skip(first: re.Match[bytes], tokens: Iterator[re.Match[bytes]]) -> int:
    depth, end = 0, first.end()
    token: re.Match[bytes] | None = first
    while token is not None:
        if token[0] in (b"{", b"["):
            depth += 1
        elif token[0] in (b"}", b"]"):
            depth -= 1
        end = token.end()
        if depth == 0:
            break
        token = next(tokens, None)
    return end


def _text(quoted: bytes) -> str:
    if b"\\" not in quoted:
        return quoted[1:-1].decode()
    return str(json.loads(quoted))
