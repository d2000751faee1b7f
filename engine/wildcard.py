"""Names with `*` in them. Nothing else is special: a model may be called `m[1]` or `what?`."""

from __future__ import annotations


def matches(name: str, pattern: str) -> bool:
    """Whether the name is one the pattern takes in; `*` stands for any text, also for none.

    The pieces between the stars are looked for from the left, each once: no name can make this
    go back and forth.
    """
    if "*" not in pattern:
        return name == pattern
    first, *middle, last = pattern.split("*")
    if len(name) < len(first) + len(last) or not name.startswith(first):
        return False
    if not name.endswith(last):
        return False
    at, end = len(first), len(name) - len(last)
    for piece in middle:
        found = name.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True
