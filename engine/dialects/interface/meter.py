"""How an API reports usage, and which numbers are accepted as counts.

Upstreams are not trusted with numbers: only a whole number within bounds is a count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from engine.values.usage import Usage

MOST = 500_000_000
"""The largest count that is accepted."""

MOST_SECONDS = 10_000_000.0


class Tally(Protocol):
    """The usage that the events of one stream have reported up to now.

    `ended` becomes true when the report is complete; until then the output is not known.
    """

    ended: bool

    def take(self, document: Any) -> None:
        """Add one event's JSON, in the order of the stream. Never raises."""

    def usage(self) -> Usage | None:
        """The usage reported, None for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """How one dialect reports usage. Every function is pure and accepts any JSON.

    `usage_of` reads a complete answer or one event, None when it reports nothing. `key` is the
    member that holds the counts; `tally` creates a Tally for a stream. `repeats`: each event
    reports everything used up to then, so only the last one matters. `members` are the top-level
    members of an answer that `usage_of` reads, `image` the member that each image of an answer has.
    `schema_members`: an operation none of whose answers has one of these uses nothing.
    `text_members` are the members whose strings are output, by which it is estimated.
    """

    usage_of: Callable[[Any], Usage | None]
    tally: Callable[[], Tally]
    key: str = "usage"
    repeats: bool = False
    members: tuple[str, ...] = ("usage",)
    schema_members: tuple[str, ...] = ("usage",)
    text_members: tuple[str, ...] = ("text",)
    image: str = ""


def count(value: Any) -> int | None:
    """A whole number from 0 to MOST (12.0 is one too); None for anything else."""
    if type(value) is int:
        return value if 0 <= value <= MOST else None
    if type(value) is float and value.is_integer():
        return count(int(value))
    return None


def seconds(value: Any) -> float | None:
    """A number of seconds from 0 to MOST_SECONDS; None for anything else."""
    if type(value) in (int, float) and 0 <= value <= MOST_SECONDS:
        return float(value)
    return None


def first(holder: Any, *keys: str) -> int | None:
    """The first of these members that is a count; None when there is none, or no object."""
    if isinstance(holder, dict):
        for key in keys:
            value = holder.get(key)
            if type(value) is int and 0 <= value <= MOST:
                return value
            if value is not None and (number := count(value)) is not None:
                return number
    return None
