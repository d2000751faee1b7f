"""From how many bytes on the body of a request is large, by its operation.

What makes a body heavy is its size times the cost of its schema, and what a schema costs depends on
the values: an estimate is either too low for some, or sends requests to a heavy worker that cost
little. So a worker learns it: where a body took longer to check than others must wait, those that
would take as long are large from then on.
"""

from __future__ import annotations

import logging
import math

from engine.exchange.caller_connection import MIN_COSTLY
from engine.process.loop_turn import SECONDS

log = logging.getLogger("modelway")


class LargeSizes:
    """The sizes of one worker. A body of more than `above` bytes is large for all operations, one
    of `lowest` bytes at most for none. With an infinite `above` nothing is passed or learned."""

    def __init__(self, above: float) -> None:
        self.above = self.lowest = above
        self._learned: dict[str, int] = {}

    def of(self, operation: str) -> float:
        """The bytes above which a body of this operation is large."""
        return self._learned.get(operation, self.above)

    def learn(self, operation: str, size: int, seconds: float) -> None:
        """Learn that it took so much processor time to check a body of `size` bytes."""
        if size <= MIN_COSTLY or seconds <= SECONDS or self.above == math.inf:
            return
        large = max(MIN_COSTLY, int(size * SECONDS / seconds))
        if large >= self.of(operation):
            return
        self._learned[operation] = large
        self.lowest = min(self.lowest, large)
        log.info(
            "operation %s: bodies of more than %d bytes go to a heavy worker from now on, because "
            "one of %d bytes took %.0f ms to validate",
            *(operation, large, size, seconds * 1000),
        )
