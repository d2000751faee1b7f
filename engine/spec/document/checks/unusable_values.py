"""Values of a document that no validator takes: nested too deeply, or with half of a character."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.source.problem import Path

_HALF = re.compile("[\ud800-\udfff]")
HALF_CHARACTER = "half of a surrogate pair, which is not a character", "write the whole character"
"""The message and hint for a text that no JSON in UTF-8 can have."""
MAX_DEPTH = 250
TOO_DEEP = f"nested more than {MAX_DEPTH} deep", "give inner parts names under components"
"""The message and hint for a value that is nested deeper than jsonschema_rs can report."""


def deep_places(value: object, depth: int = MAX_DEPTH) -> Iterator[Path]:
    """The path of each mapping or list at a depth."""
    stack: list[tuple[Path, object]] = [((), value)]
    while stack:
        path, value = stack.pop()
        if len(path) >= depth:
            yield path
        elif isinstance(value, dict | list):
            entries = [*(value.items() if isinstance(value, dict) else enumerate(value))]
            below = [(key, child) for key, child in entries if isinstance(child, dict | list)]
            stack += [((*path, key), child) for key, child in reversed(below)]


def half_characters(value: object) -> Iterator[Path]:
    """The path of each value with half of a surrogate pair as its name or text."""
    stack: list[tuple[Path, object]] = [((), value)]
    while stack:
        path, value = stack.pop()
        if _has_half(path[-1] if path else "") or _has_half(value):
            yield path
        elif isinstance(value, dict | list):
            entries = [*(value.items() if isinstance(value, dict) else enumerate(value))]
            stack += [((*path, key), child) for key, child in reversed(entries)]


def _has_half(text: object) -> bool:
    return isinstance(text, str) and _HALF.search(text) is not None
