"""How many similar values a run tries: all in `tox -e thorough`, a third in the gate."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

THOROUGH = "MODELWAY_THOROUGH" in os.environ
_SHARE = 3


def share(values: Sequence[T], number: int) -> Sequence[T]:
    """Every third value, starting at `number` modulo 3; all values in a thorough run.

    With a running `number` each value is tried at every third place.
    """
    return values if THOROUGH else values[number % _SHARE :: _SHARE]
