"""Whether a cost grows with the size alone, or with its square.

The CPU time of a large work is compared with that of 16 small ones: counts of calls cannot see what
a single call copies or searches. Other load slows both, one after the other; what seems too slow is
measured again.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

FACTOR = 16
MOST_GROWTH = 2.5
"""A growth that is no sign of a quadratic cost: where everything fits into the caches of the
processor, a part costs about half."""

_ATTEMPTS = 6

Work = Callable[[], object]


def growth(prepare: Callable[[int], Callable[[], Work]], large_size: int) -> float:
    """How many times more one work of a large size costs than 16 small ones of the same size in
    all; `prepare` returns what makes the work of a size, outside of the measurement."""
    small, large = prepare(large_size // FACTOR), prepare(large_size)
    gc.disable()
    try:
        growths = []
        for _ in range(_ATTEMPTS):
            works = [small() for _ in range(FACTOR)]
            growths.append(_cpu_time([large()]) / _cpu_time(works))
            if growths[-1] <= MOST_GROWTH:
                break
    finally:
        gc.enable()
    return min(growths)


def _cpu_time(works: list[Work]) -> float:
    begin = time.thread_time()
    results = [work() for work in works]  # all of them take memory, as one large result does
    seconds = time.thread_time() - begin
    results.clear()
    return seconds
