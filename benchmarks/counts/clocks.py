"""Clocks that tell the same time in every run. To be called before the engine is imported.

Each look at a clock moves it by the same step: what the engine does once a second it then does
after so many requests. The clocks are C functions, as are those that they stand in for.
"""

from __future__ import annotations

import itertools
import random
import time

_STEP = 0.000_01
"""Seconds: about twenty looks make a request of 200 us."""


def stop() -> None:
    """Let `time` count from here on."""
    for name, begin in (("time", 1.75e9), ("monotonic", 1e5), ("perf_counter", 1e5)):
        setattr(time, name, itertools.count(begin, _STEP).__next__)
    nanoseconds = itertools.count(10**14, round(_STEP * 1e9)).__next__
    setattr(time, "clock_gettime_ns", lambda clock: nanoseconds())  # noqa: B010
    setattr(time, "time_ns", nanoseconds)  # noqa: B010
    random.seed(0)
