"""Whole numbers with a fraction of zeros.

JSON does not tell `1.0` from `1`, and neither do OpenAPI 3.0.4 and 3.1 ("Data Types"), JavaScript
and Protocol Buffers. Draft 4, by which schemas of 3.0 and Swagger 2.0 are compiled, calls the first
one no integer.
"""

from __future__ import annotations

from typing import Any


def as_integers(value: Any) -> Any:
    """A copy of a JSON value in which a number with a fraction of zeros is an integer; the value
    itself if it has none."""
    if not _has_any(value):
        return value
    root = [value]
    queue: list[Any] = [root]
    while queue:
        holder = queue.pop()
        for key, child in _children(holder):
            if isinstance(child, dict | list):
                holder[key] = child.copy()
                queue.append(holder[key])
            elif _is_whole(child):
                holder[key] = int(child)
    return root[0]


def _has_any(value: Any) -> bool:
    queue = [value]
    while queue:
        each = queue.pop()
        if isinstance(each, dict | list):
            queue += (child for _, child in _children(each))
        elif _is_whole(each):
            return True
    return False


def _children(holder: Any) -> list[tuple[Any, Any]]:
    return list(holder.items() if isinstance(holder, dict) else enumerate(holder))


def _is_whole(value: object) -> bool:
    return isinstance(value, float) and value.is_integer()
