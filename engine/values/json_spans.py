"""The positions of values in JSON text, without a parsed copy of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from mmap import mmap
from typing import Any

Buffer = bytes | mmap
JsonPath = tuple[str | int, ...]
"""Keys and indexes, from the outermost value inwards."""
STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_SCALAR = re.compile(STRING + rb"|[^\s{}\[\]:,\"]++", re.DOTALL)
NESTING = re.compile(STRING + rb"?|[{}\[\]]", re.DOTALL)
"""A string, which may be cut off, or a bracket."""
_SPACE = re.compile(rb"[ \t\r\n]*+")
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_OBJECT = re.compile(rb"\s*\{")
ESCAPE = b"\\u00"
"""How the escape of a character of ASCII or Latin-1 begins."""
_ESCAPED_ASCII = re.compile(rb"\\u00[2-7]")
_VALUE_AFTER_KEY = re.compile(rb"\s*:\s*(" + STRING + rb")", re.DOTALL)


class Ambiguous(ValueError):
    """A key on the path is repeated: two parsers may read two different values."""


def span(text: Buffer, pointer: tuple[str, ...]) -> tuple[int, int] | None:
    """Start and end of the value at `pointer` in valid JSON, or None when there is none.

    `pointer` holds the unescaped steps of a JSON Pointer (RFC 6901). Raises Ambiguous when a key
    on the path is repeated in one object.
    """
    if len(pointer) == 1 and (match := only_mention(text, quoted_name(pointer[0]))) is not None:
        return match
    matches = spans(text, pointer)
    return matches[0] if matches else None


def has_escaped_ascii(text: Buffer) -> bool:
    """Whether an ASCII character is escaped, as no encoder does with the letters of a name; many do
    with those of Latin-1. `rfind` takes a quarter of the time of `find`."""
    return text.rfind(ESCAPE) >= 0 and _ESCAPED_ASCII.search(text) is not None


def spans(text: Buffer, pointer: tuple[str, ...]) -> list[tuple[int, int]]:
    """As `span`, for a pointer whose step `*` stands for every item of an array."""
    matches: list[tuple[int, int]] = []
    start = after_space(text, 0)
    if not pointer:
        return [(start, value_end(text, start))]
    _descend(text, start, pointer, matches)
    return matches


def member_span(text: Buffer, path: JsonPath) -> tuple[int, int, int]:
    """Start of the member or item at `path`, which must exist, and start and end of its value.
    Raises Ambiguous when a key on the path is repeated."""
    start = after_space(text, 0)
    begin, end = start, len(text)
    for step in path:
        matches = [entry for entry in entries(text, start) if entry[0] == step]
        if len(matches) != 1:
            raise Ambiguous(f"key '{step}' is repeated")
        _, begin, start, end = matches[0]
    return begin, start, end


def member_spans(text: Buffer, paths: Iterable[JsonPath]) -> dict[JsonPath, tuple[int, int]]:
    """Start and end of the values at these paths, which must exist, in one pass. No path is empty
    or lies below another. Raises Ambiguous when a key on a path is repeated."""
    spans_of: dict[JsonPath, tuple[int, int]] = {}
    _find_members(text, after_space(text, 0), path_tree({path: path for path in paths}), spans_of)
    return spans_of


def _find_members(
    text: Buffer,
    start: int,
    tree: dict[str | int, Any],
    result: dict[JsonPath, tuple[int, int]],
) -> None:
    names: set[str | int] = set()
    for step, _, value, end in entries(text, start):
        if (below := tree.get(step)) is None:
            continue
        if step in names:
            raise Ambiguous(f"key '{step}' is repeated")
        names.add(step)
        if isinstance(below, tuple):
            result[below] = value, end
        else:
            _find_members(text, value, below, result)


def path_tree(leaves: Mapping[JsonPath, object]) -> dict[str | int, Any]:
    """The leaves by the steps of their paths, of which none is empty."""
    tree: dict[str | int, Any] = {}
    for path, leaf in leaves.items():
        at = tree
        for step in path[:-1]:
            at = at.setdefault(step, {})
        at[path[-1]] = leaf
    return tree


def entries(text: Buffer, start: int) -> Iterator[tuple[str | int, int, int, int]]:
    """For each entry of the object or array at `start`: its key or index, the start of the entry,
    the start and end of its value."""
    opener = text[start : start + 1]
    if opener not in (b"{", b"["):
        return
    at, index = after_space(text, start + 1), 0
    while text[at : at + 1] not in (b"}", b"]"):
        begin = at
        step: str | int = index
        if opener == b"{":
            key_end = value_end(text, at)
            step = _key(text[at:key_end])
            at = after_space(text, after_space(text, key_end) + 1)
        end = value_end(text, at)
        yield step, begin, at, end
        index += 1
        at = after_space(text, end)
        if text[at : at + 1] == b",":
            at = after_space(text, at + 1)


@lru_cache(maxsize=256)
def quoted_name(key: str) -> bytes:
    """A key in quotes; b"" if JSON has several spellings of it."""
    return f'"{key}"'.encode() if _PLAIN.fullmatch(key) else b""


def only_mention(text: Buffer, quoted: bytes) -> tuple[int, int] | None:
    """The span of the string value after the only occurrence of a quoted key in an object; None if
    only a full walk can decide.

    If the key exists at the top level, occurs once, and no ASCII character is escaped, then this
    occurrence is the key.
    """
    if not quoted or _OBJECT.match(text) is None:
        return None
    at = text.rfind(quoted)
    if at < 0 or text.rfind(quoted, 0, at) >= 0 or has_escaped_ascii(text):
        return None
    match = _VALUE_AFTER_KEY.match(text, at + len(quoted))
    return match.span(1) if match else None


def _descend(
    text: Buffer, start: int, pointer: tuple[str, ...], matches: list[tuple[int, int]]
) -> int:
    """Append to `matches` the spans of the pointer's targets in the value at `start`; returns the
    end of that value.

    Recurses only along the pointer, and skips all other values.
    """
    opener = text[start : start + 1]
    if opener not in (b"{", b"["):
        return value_end(text, start)
    at = after_space(text, start + 1)
    index = repeats = 0
    while text[at : at + 1] not in (b"}", b"]"):
        if opener == b"{":
            end = value_end(text, at)
            matched = _key(text[at:end]) == pointer[0]
            at = after_space(text, after_space(text, end) + 1)
        else:
            matched = pointer[0] in ("*", str(index))
            index += 1
        repeats += matched
        if repeats > 1 and pointer[0] != "*":
            raise Ambiguous(f"key '{pointer[0]}' is repeated")
        if matched and len(pointer) > 1:
            end = _descend(text, at, pointer[1:], matches)
        else:
            end = value_end(text, at)
            if matched:
                matches.append((at, end))
        at = after_space(text, end)
        if text[at : at + 1] == b",":
            at = after_space(text, at + 1)
    return at + 1


def after_space(text: Buffer, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


def value_end(text: Buffer, start: int) -> int:
    """The end of the value at `start`. Of arrays and objects only brackets and strings are read."""
    if text[start : start + 1] not in (b"{", b"["):
        match = _SCALAR.match(text, start)
        assert match is not None
        return match.end()
    depth = 0
    for token in NESTING.finditer(text, start):
        if token[0] in (b"{", b"["):
            depth += 1
        elif token[0] in (b"}", b"]"):
            depth -= 1
            if depth == 0:
                return token.end()
    return len(text)


def _key(quoted: bytes) -> str:
    return str(json.loads(quoted)) if quoted.find(b"\\") >= 0 else quoted[1:-1].decode()


def refuse_repeated_names(text: str | bytes) -> None:
    """Raises Ambiguous for valid JSON in which an object repeats a name, or which is nested too
    deeply to say."""

    def unique(pairs: list[tuple[str, object]]) -> None:
        if len({name for name, _ in pairs}) < len(pairs):
            raise Ambiguous("has an object with a repeated name; send each name once")

    try:
        json.loads(text, object_pairs_hook=unique)
    except RecursionError as error:
        raise Ambiguous("is nested too deeply") from error
