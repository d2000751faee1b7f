"""The mistakes in a transform, found when it is compiled."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.source.problem import Path


@dataclass(frozen=True, slots=True)
class Fault:
    """One mistake: its place below the transform, its code, message and hint. `key`: the key is
    wrong, not its value."""

    at: Path
    code: str
    message: str
    hint: str = ""
    key: bool = False


@dataclass(slots=True)
class Faults:
    """The mistakes of one transform, as they are found."""

    found: list[Fault] = field(default_factory=list)

    def add(self, at: Path, code: str, message: str, hint: str = "", *, key: bool = False) -> None:
        self.found.append(Fault(at, code, message, hint, key))


SYNTAX = "MW361"
"""A template, place or path that cannot be read."""

RESERVED = "MW362"
"""A header or parameter that belongs to the gateway, to a credential or to the connection."""

CONFLICT = "MW363"
"""Two edits of one place."""

NO_PLACE = "MW364"
"""A place that an operation does not have."""

UNFIT = "MW365"
"""A value that does not fit its place."""

REQUIRED = "MW366"
"""An edit that takes away what an operation requires."""
