"""A JSON text and its parsed value, edited together: bytes outside an edit stay unchanged.

A path refers to the parsed value, where the last member of a repeated key counts. An edit of a
repeated member changes every copy or raises Ambiguous.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

import orjson

from engine.values.json_edit import Edit, apply_edits, cut, edits
from engine.values.json_spans import (
    JsonPath,
    has_escaped_ascii,
    member_span,
    member_spans,
    quoted_name,
    value_end,
)

_COLON = re.compile(rb"\s*:\s*")


class JsonDocument:
    """`text` is valid JSON, `value` what it is parsed to. Both change with each edit."""

    __slots__ = ("text", "value")

    def __init__(self, text: bytes, value: Any) -> None:
        self.text = text
        self.value = value

    @classmethod
    def parse(cls, text: bytes) -> JsonDocument:
        """Raises orjson.JSONDecodeError."""
        return cls(text, orjson.loads(text))

    def holder(self, path: JsonPath) -> Any:
        """The object or array that would hold the entry at `path`; None where there is none."""
        node = self.value
        for step in path[:-1]:
            if not _has(node, step):
                return None
            node = node[step]
        return node

    def has(self, path: JsonPath) -> bool:
        """Whether there is a value at `path`."""
        return not path or _has(self.holder(path), path[-1])

    def get(self, path: JsonPath) -> Any:
        """The value at `path`, which must exist."""
        return self.holder(path)[path[-1]] if path else self.value

    def replace(self, path: JsonPath, new: bytes) -> None:
        """Replace the text of the value at `path`."""
        at = _only(self.text, path)
        changes = edits(self.text, {path: new}) if at is None else [(at[1], at[2], new)]
        self.text = apply_edits(self.text, changes)
        self.set_value(path, orjson.loads(new))

    def replace_all(self, paths: Collection[JsonPath], new: bytes) -> None:
        """Replace the texts of the values at these paths. No path may lie below another."""
        if len(paths) == 1:
            self.replace(next(iter(paths)), new)
            return
        self.text = apply_edits(self.text, edits(self.text, dict.fromkeys(paths, new)))
        for path in paths:
            self.set_value(path, orjson.loads(new))

    def set_value(self, path: JsonPath, value: Any) -> None:
        """Replace the value at `path` of which the text is written."""
        if path:
            self.holder(path)[path[-1]] = value
        else:
            self.value = value

    def remove(self, paths: Collection[JsonPath]) -> None:
        """Remove the members and items at these paths. No path may lie below another."""
        at = _only(self.text, next(iter(paths))) if len(paths) == 1 else None
        changes = (
            edits(self.text, dict.fromkeys(paths)) if at is None else [cut(self.text, at[0], at[2])]
        )
        self.text = apply_edits(self.text, changes)
        for path in sorted(paths, key=_index, reverse=True):
            del self.holder(path)[path[-1]]

    def rename(self, path: JsonPath, name: str) -> None:
        """Rename the member at `path` to a name that its object does not have yet. Raises
        Ambiguous."""
        begin, start, _ = self._span(path)
        key = self.text[begin:start].rstrip(b" \t\r\n").removesuffix(b":").rstrip(b" \t\r\n")
        self.text = apply_edits(self.text, [(begin, begin + len(key), orjson.dumps(name))])
        holder = self.holder(path)
        members = [(name if key == path[-1] else key, value) for key, value in holder.items()]
        holder.clear()
        holder.update(members)

    def raw(self, path: JsonPath) -> bytes:
        """The text of the value at `path`. Raises Ambiguous."""
        _, start, end = self._span(path)
        return self.text[start:end]

    def add(self, path: JsonPath, new: bytes) -> None:
        """Add a member behind the others of its object. Raises Ambiguous."""
        holder, name = self.holder(path), str(path[-1])
        member = b"".join((b"," if holder else b"", orjson.dumps(name), b":", new))
        end = self._container(path[:-1])[1] - 1
        self.text = apply_edits(self.text, [(end, end, member)])
        holder[name] = orjson.loads(new)

    def can_create(self, path: JsonPath) -> bool:
        """Whether `create` can add a member at a path where there is none."""
        first = self._first_missing(path)
        return isinstance(self.holder(first), dict) and isinstance(first[-1], str)

    def create(self, path: JsonPath, new: bytes) -> None:
        """Add the member at `path`, and the missing objects above it. Raises Ambiguous."""
        first = self._first_missing(path)
        for name in reversed(path[len(first) :]):
            new = b"{" + orjson.dumps(name) + b":" + new + b"}"
        self.add(first, new)

    def _first_missing(self, path: JsonPath) -> JsonPath:
        """The path of the first member on the way to `path` that is missing."""
        size = len(path)
        while size > 1 and not self.has(path[: size - 1]):
            size -= 1
        return path[:size]

    def insert(self, paths: Sequence[JsonPath], items: Sequence[bytes], *, front: bool) -> None:
        """Add items before or behind those of the arrays at `paths`, of which none lies below
        another. Raises Ambiguous."""
        if len(paths) == 1:
            spans = {paths[0]: self._container(paths[0])}
        else:
            spans = member_spans(self.text, paths)
        changes: list[Edit] = []
        for path in paths:
            array = self.get(path)
            start, end = spans[path]
            new = b",".join(items)
            if array:
                new = new + b"," if front else b"," + new
            at = start + 1 if front else end - 1
            changes.append((at, at, new))
            place = 0 if front else len(array)
            array[place:place] = [orjson.loads(item) for item in items]
        self.text = apply_edits(self.text, sorted(changes))

    def _container(self, path: JsonPath) -> tuple[int, int]:
        """Start and end of the object or array at `path`."""
        if path:
            return self._span(path)[1:]
        return len(self.text) - len(self.text.lstrip()), len(self.text.rstrip())

    def _span(self, path: JsonPath) -> tuple[int, int, int]:
        return _only(self.text, path) or member_span(self.text, path)


def _only(text: bytes, path: JsonPath) -> tuple[int, int, int] | None:
    """As `member_span`, for a member that there is, by text search; None if its name occurs more
    than once, or may be spelt with escapes."""
    quoted = quoted_name(path[-1]) if path and isinstance(path[-1], str) else b""
    begin = text.rfind(quoted)
    if not quoted or text.rfind(quoted, 0, begin) >= 0 or has_escaped_ascii(text):
        return None
    match = _COLON.match(text, begin + len(quoted))
    assert match is not None
    return begin, match.end(), value_end(text, match.end())


def _has(node: Any, step: str | int) -> bool:
    if isinstance(node, dict):
        return step in node
    return isinstance(node, list) and isinstance(step, int) and 0 <= step < len(node)


def _index(path: JsonPath) -> int:
    """The order in which items are removed, the last of an array first."""
    return path[-1] if isinstance(path[-1], int) else -1
