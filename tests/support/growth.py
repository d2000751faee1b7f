"""Whether a cost grows with the size alone, or with its square.

The cost is counted in steps of the interpreter, which are the same on every machine. What a single
call copies or searches is seen by `python -m benchmarks.translation sizes` only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from benchmarks.counts.meters import Bytecodes

LARGE = 320
FACTOR = 16
MAX_GROWTH = 1.2
"""The largest ratio that a linear cost has."""

Work = Callable[[], object]


def growth(prepare: Callable[[int], Work]) -> float:
    """How many times more steps one work of a large size takes than 16 small ones of the same size
    in all; `prepare` returns the work of a size, and its own steps are not counted."""
    small, large = prepare(LARGE // FACTOR), prepare(LARGE)
    return steps(large) / (steps(small) * FACTOR)


def steps(work: Work) -> float:
    """The steps of the interpreter in functions of the engine that a work takes."""
    tracer = sys.gettrace()
    meter = Bytecodes()
    try:
        meter.zero()
        work()
        return meter.read()
    finally:
        sys.settrace(tracer)
