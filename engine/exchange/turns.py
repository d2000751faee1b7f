"""The turns of large requests in a process that serves nothing else: one computes, others wait.

A request is inside from the first byte of its body until it is sent to an upstream. When one has
computed, the next turn belongs to the caller who has waited longest without one: a caller who sends
many requests at once waits for those of others, not they for theirs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable

from gevent.event import Event

from engine.values.errors import too_many_large_requests


class Turns:
    """The turns of the requests in a process, of which at most `most` are inside."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._inside: set[Hashable] = set()
        self._holder: Hashable = None
        self._waiting: dict[str, deque[tuple[Hashable, Event]]] = {}

    def enter(self, request: Hashable) -> None:
        """A request begins to receive its body. Raises GatewayError 503 if too many are inside."""
        if len(self._inside) >= self._most:
            raise too_many_large_requests()
        self._inside.add(request)

    def begin(self, request: Hashable, caller: str) -> None:
        """Wait for the turn of a request of a caller. `leave` must follow, whatever happens."""
        if self._holder is None:
            self._holder = request
            return
        turn = Event()
        self._waiting.setdefault(caller, deque()).append((request, turn))
        turn.wait()

    def leave(self, request: Hashable) -> None:
        """A request is inside no longer, and has no turn, nor waits for one."""
        self._inside.discard(request)
        if self._holder is request:
            self._holder = None
            self._give_turn()
            return
        for caller, queue in list(self._waiting.items()):
            self._waiting[caller] = deque(entry for entry in queue if entry[0] is not request)

    def _give_turn(self) -> None:
        while self._waiting:
            caller = next(iter(self._waiting))
            queue = self._waiting.pop(caller)
            if queue:
                self._holder, turn = queue.popleft()
                self._waiting[caller] = queue  # behind the others
                turn.set()
                return
