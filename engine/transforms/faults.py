"""The mistakes in a transform, found when it is compiled."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import Struct

from engine.source.problem import Path


class Fault(Struct, frozen=True):
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

UPSTREAM_NO_PLACE = "MW450"
"""A place that none of the operations has whose requests an upstream gets."""

UPSTREAM_UNFIT = "MW451"
"""A value that does not fit its place in an operation whose requests an upstream gets."""

RESPONSE_NO_PLACE = "MW452"
"""A place that the responses of no operation have."""

RESPONSE_UNFIT = "MW453"
"""A value that does not fit its place in the responses of an operation."""

RESPONSE_REQUIRED = "MW454"
"""An edit that takes away what the responses of an operation always have."""

UPSTREAM_ADDED = "MW455"
"""A place that is added to requests of operations that have none, because others have it."""
