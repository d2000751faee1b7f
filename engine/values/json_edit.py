"""Edits of JSON text that leave all other bytes unchanged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from engine.values.json_spans import (
    Buffer,
    JsonPath,
    after_space,
    entries,
    path_tree,
    value_end,
)

Edit = tuple[int, int, bytes]
"""Start and end of a span of bytes, and the bytes that replace it."""

_SPACES = (b" ", b"\t", b"\r", b"\n")
_UNCHANGED = object()


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


def cut(text: Buffer, begin: int, end: int) -> Edit:
    """The edit that removes the entry from `begin` to `end` and one comma beside it."""
    after = after_space(text, end)
    if text[after : after + 1] == b",":
        return begin, after_space(text, after + 1), b""
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
        start = after_space(text, 0)
        return [(start, value_end(text, start), new)]
    result: list[Edit] = []
    _edit(text, after_space(text, 0), path_tree(changes), result)
    return sorted(result)


def _edit(text: Buffer, start: int, tree: dict[str | int, Any], result: list[Edit]) -> None:
    """Append to `result` the edits of the object or array at `start`."""
    previous_end: int | None = None  # of the last entry that stays
    cut_from: int | None = None
    end = start + 1
    for step, begin, value, end in entries(text, start):
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
