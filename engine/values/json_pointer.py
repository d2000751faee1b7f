"""JSON Pointers (RFC 6901): `/a/b~1c` is the path of `b/c` in `a`."""

from __future__ import annotations

from collections.abc import Iterable


def escape(step: str) -> str:
    """A name as one step of a pointer."""
    return step.replace("~", "~0").replace("/", "~1")


def unescape(step: str) -> str:
    """The name that a step of a pointer means."""
    return step.replace("~1", "/").replace("~0", "~")


def pointer(steps: Iterable[str]) -> str:
    """The pointer of a path."""
    return "".join(f"/{escape(step)}" for step in steps)


def path_of(pointer: str) -> tuple[str, ...]:
    """The path that a pointer means; what comes before its first slash is not read."""
    return tuple(map(unescape, pointer.split("/")[1:]))
