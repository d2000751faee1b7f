"""JSON Pointers (RFC 6901): `/a/b~1c` is the path of `b/c` in `a`; and the place of a claim in a
JSON Web Token: `sub`, `groups[0]`, `realm_access.roles`, or a pointer, which a name with dots
needs: `/https:~1~1example.com~1team`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec import Struct


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


_STEP = re.compile(r"([^.\[\]/]+)((?:\[\d{1,4}\])*)")


class ClaimPlace(Struct, frozen=True):
    """A place as written, and its steps: names, and indexes of lists."""

    text: str
    steps: tuple[str | int, ...]

    @classmethod
    def parse(cls, text: str) -> ClaimPlace:
        """Raises ValueError for a text that is no place."""
        if text.startswith("/"):
            return cls(text, tuple(map(_step, path_of(text))))
        steps: list[str | int] = []
        for part in text.split("."):
            match = _STEP.fullmatch(part)
            if match is None:
                raise ValueError(f"'{text}' is not the place of a claim")
            steps.append(match[1])
            steps += [int(index) for index in re.findall(r"\d+", match[2])]
        return cls(text, tuple(steps))

    def read(self, claims: Any) -> Any:
        """The value at the place, None if there is none."""
        value = claims
        for step in self.steps:
            if isinstance(value, dict):
                value = value.get(str(step))
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                return None
        return value


def _step(name: str) -> str | int:
    """A step of a JSON Pointer: an index is written without leading zeros (RFC 6901 4)."""
    return int(name) if re.fullmatch(r"0|[1-9]\d{0,3}", name, re.ASCII) else name
