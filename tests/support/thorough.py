"""How much a run tries: all similar values and large crowds in `tox -e thorough`, else fewer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import product
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")

THOROUGH = "MODELWAY_THOROUGH" in os.environ
SESSIONS = "MODELWAY_SESSIONS" in os.environ
"""Whether agents do all that they can, as in `tox -e agents`."""

_SHARE = 6


def scale(gate: int, thorough: int) -> int:
    """A number of callers or requests, where more of them show nothing but that it also holds for
    many: `thorough` in a thorough run, otherwise `gate`."""
    return thorough if THOROUGH else gate


def examples(gate: int) -> int:
    """The number of random examples of a test: `gate`, or what MODELWAY_EXAMPLES says."""
    return int(os.environ.get("MODELWAY_EXAMPLES", gate))


def changes(gate: int) -> int:
    """The number of random changes that a test tries: `gate`, or what MODELWAY_MUTATIONS says."""
    return int(os.environ.get("MODELWAY_MUTATIONS", gate))


def share(values: Sequence[T], number: int, every: int = _SHARE) -> Sequence[T]:
    """Every sixth value, or as `every` says, starting at `number` modulo 6; all values in a
    thorough run.

    With a running `number` each value is tried at every sixth place.
    """
    return values if THOROUGH else values[number % every :: every]


def some(values: Sequence[T], gate: int, whole: bool = THOROUGH) -> Sequence[T]:
    """The first `gate` values, all with `whole`: in a thorough run."""
    return values if whole else values[:gate]


def diagonal(rows: Sequence[T], columns: Sequence[S], whole: bool = THOROUGH) -> list[tuple[T, S]]:
    """Pairs in which each row and each column is, the n-th row with the n-th column; every
    pair with `whole`: in a thorough run."""
    if whole:
        return [*product(rows, columns)]
    length = max(len(rows), len(columns))
    return [(rows[n % len(rows)], columns[n % len(columns)]) for n in range(length)]
