"""What stages share, passed in once when the application is built: clock, dice, tokens."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from engine.tokens import Caller


@dataclass(frozen=True, slots=True)
class Services:
    """`clock` gives Unix seconds, `dice` a number from 0 up to 1, `tokens` callers by digest."""

    tokens: Mapping[str, Caller] = field(default_factory=dict)
    clock: Callable[[], float] = time.time
    dice: Callable[[], float] = random.random
