"""The positions of values in JSON text, for edits that leave all other bytes unchanged."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from mmap import mmap
from typing import Any

Buffer = bytes | mmap
JsonPath = tuple[str | int, ...]
"""Keys and indexes, from the outermost value inwards."""

Edit = tuple[int, int, bytes]
"""Start and end of a span of bytes, and the bytes that replace it."""

STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_SCALAR = re.compile(STRING + rb"|[^\s{}\[\]:,\"]++", re.DOTALL)
NESTING = re.compile(STRING + rb"?|[{}\[\]]", re.DOTALL)
"""A string, which may be cut off, or a bracket."""
_SPACE = re.compile(rb"[ \t\r\n]*+")
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_OBJECT = re.compile(rb"\s*\{")
_COLON = re.compile(rb"\s*:\s*")
_SPACES = (b" ", b"\t", b"\r", b"\n")
_UNCHANGED = object()
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
    start = _after_space(text, 0)
    if not pointer:
        return [(start, _end(text, start))]
    _descend(text, start, pointer, matches)
    return matches


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


def without_members(text: Buffer, paths: Collection[JsonPath]) -> bytes:
    """Remove the members at these paths from valid JSON; all other bytes are unchanged.

    No path may lie below another. Every member of a repeated key is removed.
    """
    return apply_edits(text, edits(text, dict.fromkeys(paths)))


def apply_edits(text: Buffer, changes: Iterable[Edit]) -> bytes:
    """The edited text. The edits must be sorted and must not overlap."""
    pieces: list[bytes] = []
    position = 0
    for start, end, new in changes:
        pieces += (text[position:start], new)
        position = end
    return b"".join([*pieces, text[position:]])


def member_span(text: Buffer, path: JsonPath) -> tuple[int, int, int]:
    """Start of the member or item at `path`, which must exist, and start and end of its value.
    Raises Ambiguous when a key on the path is repeated."""
    start = _after_space(text, 0)
    begin, end = start, len(text)
    for step in path:
        matches = [entry for entry in _entries(text, start) if entry[0] == step]
        if len(matches) != 1:
            raise Ambiguous(f"key '{step}' is repeated")
        _, begin, start, end = matches[0]
    return begin, start, end


def member_spans(text: Buffer, paths: Iterable[JsonPath]) -> dict[JsonPath, tuple[int, int]]:
    """Start and end of the values at these paths, which must exist, in one pass. No path is empty
    or lies below another. Raises Ambiguous when a key on a path is repeated."""
    spans_of: dict[JsonPath, tuple[int, int]] = {}
    _find_members(text, _after_space(text, 0), _tree({path: path for path in paths}), spans_of)
    return spans_of


def _find_members(
    text: Buffer,
    start: int,
    tree: dict[str | int, Any],
    result: dict[JsonPath, tuple[int, int]],
) -> None:
    names: set[str | int] = set()
    for step, _, value, end in _entries(text, start):
        if (below := tree.get(step)) is None:
            continue
        if step in names:
            raise Ambiguous(f"key '{step}' is repeated")
        names.add(step)
        if isinstance(below, tuple):
            result[below] = value, end
        else:
            _find_members(text, value, below, result)


def only_member(text: Buffer, name: str) -> tuple[int, int, int] | None:
    """As `member_span`, but by text search. Some object of the text must have the member; None if
    its name occurs more than once, or may be spelt with escapes."""
    if _PLAIN.fullmatch(name) is None:
        return None
    quoted = b'"' + name.encode() + b'"'
    begin = text.rfind(quoted)
    if text.rfind(quoted, 0, begin) >= 0 or has_escaped_ascii(text):
        return None
    match = _COLON.match(text, begin + len(quoted))
    assert match is not None
    return begin, match.end(), _end(text, match.end())


def cut(text: Buffer, begin: int, end: int) -> Edit:
    """The edit that removes the entry from `begin` to `end` and one comma beside it."""
    after = _after_space(text, end)
    if text[after : after + 1] == b",":
        return begin, _after_space(text, after + 1), b""
    before = begin
    while text[before - 1 : before] in _SPACES:
        before -= 1
    return (before - 1 if text[before - 1 : before] == b"," else begin), end, b""


def edits(text: Buffer, changes: Mapping[JsonPath, bytes | None]) -> list[Edit]:
    """The edits (start, end, new bytes) of valid JSON that give the value at each path these bytes,
    or remove the member or item, with its comma, for None.

    The edits are sorted and do not overlap. No path may lie below another; every member of a
    repeated key is changed. The empty path is the whole value, which cannot be removed.
    """
    if (new := changes.get(())) is not None:
        start = _after_space(text, 0)
        return [(start, _end(text, start), new)]
    result: list[Edit] = []
    _edit(text, _after_space(text, 0), _tree(changes), result)
    return sorted(result)


def _tree(leaves: Mapping[JsonPath, object]) -> dict[str | int, Any]:
    """The leaves by the steps of their paths, of which none is empty."""
    tree: dict[str | int, Any] = {}
    for path, leaf in leaves.items():
        at = tree
        for step in path[:-1]:
            at = at.setdefault(step, {})
        at[path[-1]] = leaf
    return tree


def _edit(text: Buffer, start: int, tree: dict[str | int, Any], result: list[Edit]) -> None:
    """Append to `result` the edits of the object or array at `start`."""
    previous_end: int | None = None  # of the last entry that stays
    cut_from: int | None = None
    end = start + 1
    for step, begin, value, end in _entries(text, start):
        change = tree.get(step, _UNCHANGED)
        if change is None:
            cut_from = begin if cut_from is None else cut_from
            continue
        if isinstance(change, bytes):
            result.append((value, end, change))
        elif change is not _UNCHANGED:
            _edit(text, value, change, result)
        if cut_from is not None:
            result.append((cut_from, begin, b""))
            cut_from = None
        previous_end = end
    if cut_from is not None:
        result.append((cut_from if previous_end is None else previous_end, end, b""))


def _entries(text: Buffer, start: int) -> Iterator[tuple[str | int, int, int, int]]:
    """For each entry of the object or array at `start`: its key or index, the start of the entry,
    the start and end of its value."""
    opener = text[start : start + 1]
    if opener not in (b"{", b"["):
        return
    at, index = _after_space(text, start + 1), 0
    while text[at : at + 1] not in (b"}", b"]"):
        begin = at
        step: str | int = index
        if opener == b"{":
            key_end = _end(text, at)
            step = _key(text[at:key_end])
            at = _after_space(text, _after_space(text, key_end) + 1)
        end = _end(text, at)
        yield step, begin, at, end
        index += 1
        at = _after_space(text, end)
        if text[at : at + 1] == b",":
            at = _after_space(text, at + 1)


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
        return _end(text, start)
    at = _after_space(text, start + 1)
    index = repeats = 0
    while text[at : at + 1] not in (b"}", b"]"):
        if opener == b"{":
            end = _end(text, at)
            matched = _key(text[at:end]) == pointer[0]
            at = _after_space(text, _after_space(text, end) + 1)
        else:
            matched = pointer[0] in ("*", str(index))
            index += 1
        repeats += matched
        if repeats > 1 and pointer[0] != "*":
            raise Ambiguous(f"key '{pointer[0]}' is repeated")
        if matched and len(pointer) > 1:
            end = _descend(text, at, pointer[1:], matches)
        else:
            end = _end(text, at)
            if matched:
                matches.append((at, end))
        at = _after_space(text, end)
        if text[at : at + 1] == b",":
            at = _after_space(text, at + 1)
    return at + 1


def _after_space(text: Buffer, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


def value_end(text: Buffer, start: int) -> int:
    """The end of the object or array at `start`; that of the text for one that is cut off."""
    return _end(text, start)


def _end(text: Buffer, start: int) -> int:
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
