"""How much of what is alike a run tries: `tox -e thorough` tries all of it, the gate a part."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

THOROUGH = "MODELWAY_THOROUGH" in os.environ
_SHARE = 3


def share(values: Sequence[T], number: int) -> Sequence[T]:
    """A third of the values, another one for each `number` in turn; all of them in a thorough run.

    So each value is tried at every third of the places.
    """
    return values if THOROUGH else values[number % _SHARE :: _SHARE]
