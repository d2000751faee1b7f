"""What became of a JSON body on its way: each value that changed, with its place."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

ABSENT: Any = object()
"""Stands for a value that is not there."""


class Change(NamedTuple):
    """A value that changed: `place` as `messages[0].role`, ABSENT for what was or is not there."""

    place: str
    before: Any
    after: Any

    def as_json(self) -> dict[str, Any]:
        """`{place, before, after}`, without what is absent."""
        said = {"place": self.place, "before": self.before, "after": self.after}
        return {name: value for name, value in said.items() if value is not ABSENT}


def changes(before: bytes, after: bytes) -> list[Change] | None:
    """The changes from one JSON text to another; None when one of them is not JSON."""
    if before == after:
        return []
    try:
        return list(_compared("", orjson.loads(before), orjson.loads(after)))
    except orjson.JSONDecodeError:
        return None


def _compared(place: str, before: Any, after: Any) -> list[Change]:
    if isinstance(before, dict) and isinstance(after, dict):
        found = []
        for name in [*before, *(name for name in after if name not in before)]:
            below = f"{place}.{name}" if place else str(name)
            found += _compared(below, before.get(name, ABSENT), after.get(name, ABSENT))
        return found
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [one for i, (a, b) in pairs for one in _compared(f"{place}[{i}]", a, b)]
    same = type(before) is type(after) and before == after
    return [] if same else [Change(place, before, after)]
