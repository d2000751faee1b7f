"""The states of models in one worker, as far as callers may know them: no upstream is named.

The law: an entry of `models` is *healthy* if a target of it was asked and each works; it is
*degraded* if one does not: its breaker is not closed, or it is asked last, because it fails its
probes, was ejected or has used up the limits of its vendor. Other entries are unknown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from engine.upstream.targets.target import Upstream
from engine.upstream.targets.target_state import LAST

HEALTHY, DEGRADED = "healthy", "degraded"


def model_states(
    upstreams: Mapping[str, Upstream], clock: Callable[[], float] = time.monotonic
) -> dict[str, str]:
    """HEALTHY or DEGRADED for each entry of `models` that is known."""
    now = clock()
    states: dict[str, str] = {}
    for upstream in upstreams.values():
        for (entry, *_), target in list(upstream.states.items()):
            if entry and (target.breaker.state(now) != 0 or target.turn(now) == LAST):
                states[entry] = DEGRADED
            elif entry and target.breaker.is_used:
                states.setdefault(entry, HEALTHY)
    return states
