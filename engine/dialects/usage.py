"""How an API tells what a request used: what a dialect says of itself, and what counts as a count.

Upstreams are not to be trusted with numbers: what is no whole number within bounds is no count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from engine.values.usage import Usage

MOST = 500_000_000
"""The largest count that is believed."""

MOST_SECONDS = 10_000_000.0


class Tally(Protocol):
    """What the documents of one stream have said so far.

    `ended` turns true when the upstream has said all of it; before that the output is not known.
    """

    ended: bool

    def take(self, document: Any) -> None:
        """One event's JSON, in the order of the stream. Never raises."""

    def usage(self) -> Usage | None:
        """What was said, None for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """How one dialect tells its usage. Every function is pure and takes any JSON.

    `usage_of` reads a whole answer or one event, None when it says nothing. `key` is the member
    that holds the counts; `tally` makes a new Tally for a stream. `repeats`: each event tells all
    that was used so far, so that only the last one matters. `members` are those at the top of an
    answer that `usage_of` reads, `image` the member that each image of an answer has.
    """

    usage_of: Callable[[Any], Usage | None]
    tally: Callable[[], Tally]
    key: str = "usage"
    repeats: bool = False
    members: tuple[str, ...] = ("usage",)
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
            if value is not None and (found := count(value)) is not None:
                return found
    return None
