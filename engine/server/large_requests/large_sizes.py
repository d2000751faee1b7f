"""From how many bytes on the body of a request is large, by its operation.

What makes a body heavy is its size times the cost of its schema, and what a schema costs depends on
the values: an estimate is either too low for some, or sends requests to a heavy worker that cost
little. So a worker learns it: where a body took longer to check than others must wait, those that
would take as long are large from then on.

The first of them would still let others wait. So where the schema may be costly (`spec/schemas/
schema_cost.py`), bodies are presumed to be large until a heavy worker has found what they cost.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Collection
from typing import NamedTuple

from engine.exchange.caller_connection import MIN_COSTLY
from engine.process.loop_turn import SECONDS

log = logging.getLogger("modelway")

PRESUMED = 2 * MIN_COSTLY
"""Bytes above which bodies are large for an operation that may be costly."""
_GROWTH = 2
"""A body shows at most of others that are so many times as large what they cost: with other values
they may cost more."""
HOLD = 600.0
"""Seconds for which a lesson holds. Behind them it is only presumed: one caller with an odd body
would else send those of all others to heavy workers for as long as the worker lives."""


class Lesson(NamedTuple):
    """The processor time that it took to check a body of an operation."""

    operation: str
    size: int
    seconds: float


class LargeSizes:
    """The sizes of one worker. A body of more than `above` bytes is large for all operations, one
    of `lowest` bytes at most for none. With an infinite `above` nothing is passed or learned."""

    def __init__(self, above: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.above = self.lowest = above
        self._learned: dict[str, int] = {}
        self._presumed, self._known = set[str](), set[str]()
        self._taught: dict[str, float] = {}  # when, by operation

    def of(self, operation: str) -> float:
        """The bytes above which a body of this operation is large."""
        return self._learned.get(operation, self.above)

    def presume(self, operations: Collection[str]) -> None:
        """Presume that bodies of these operations are costly. Idempotent."""
        if self.above == math.inf:
            return
        for operation in frozenset(operations) - self._known:
            if self.of(operation) > PRESUMED:
                self._presumed.add(operation)
                self._set(operation, PRESUMED)
        self._known.update(operations)

    def learn(self, lesson: Lesson) -> None:
        """Learn what a body cost here or in a heavy worker, if that is long."""
        operation, size, seconds = lesson
        if size <= MIN_COSTLY or seconds <= SECONDS or self.above == math.inf:
            return
        large = max(MIN_COSTLY, int(size * SECONDS / seconds))
        if large > self.of(operation):
            return
        self._taught[operation] = self._clock()
        if large == self.of(operation):
            return
        self._set(operation, large)
        log.info(
            "operation %s: bodies of more than %d bytes go to a heavy worker from now on, because "
            "one of %d bytes took %.0f ms to validate",
            *(operation, large, size, seconds * 1000),
        )

    def learn_from_heavy_worker(self, lesson: Lesson) -> None:
        """As `learn`; bodies that were presumed to be costly, and are not, are large no more."""
        operation, size, seconds = lesson
        if self._is_presumed(operation) and seconds < SECONDS * _GROWTH:
            self._set(operation, max(int(self.of(operation)), self._shown(size, seconds)))
        self.learn(lesson)

    def _is_presumed(self, operation: str) -> bool:
        """Whether what is known of the cost of an operation may be given up for a milder lesson."""
        taught = self._taught.get(operation)
        return operation in self._presumed or (
            operation in self._learned and taught is not None and self._clock() - taught >= HOLD
        )

    @staticmethod
    def _shown(size: int, seconds: float) -> int:
        """The bytes of bodies of which one shows that they do not take long."""
        return int(size * min(_GROWTH, SECONDS / max(seconds, SECONDS / _GROWTH)))

    def _set(self, operation: str, size: int) -> None:
        self._learned[operation] = size
        if size >= self.above:
            del self._learned[operation]
            self._presumed.discard(operation)
            self._taught.pop(operation, None)
        self.lowest = min(self._learned.values(), default=self.above)
