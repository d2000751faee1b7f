"""Changing some parts of a tree of mappings and lists: the others are shared, not copied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def with_changes(
    value: dict[Any, Any] | list[Any], change: Callable[[Any, Any], Any]
) -> dict[Any, Any] | list[Any]:
    """The mapping or list with every entry replaced by `change(key or index, entry)`; `value`
    itself if `change` returns every entry itself."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    changes = {step: new for step, entry in entries if (new := change(step, entry)) is not entry}
    if not changes:
        return value
    if isinstance(value, dict):
        return {**value, **changes}
    return [changes.get(index, entry) for index, entry in enumerate(value)]
