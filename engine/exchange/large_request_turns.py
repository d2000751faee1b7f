"""The turns of large requests in a process that serves nothing else: one computes, others wait.

Behind each turn the event loop reads what has arrived meanwhile. So a request that has just come is
among those that wait, and the next turn belongs to the caller who has waited longest without one: a
caller who sends many requests at once waits for those of others, and they for one of these.

At most `most` requests wait. Beyond them one is refused: the last one of the caller who has more of
them waiting than the newcomer, or else the newcomer.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import gevent
from gevent.event import AsyncResult

from engine.values.errors import too_many_large_requests

_Entry = tuple[Hashable, "AsyncResult[None]"]
_PAUSE = object()
"""Holds the turn while the event loop reads."""


class Turns:
    """The turns of the requests in a process. `stages/computing_turn.py` takes them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._holder: object = None
        self._waiting: dict[str, list[_Entry]] = {}
        self._timer: Any = None

    def begin(self, request: Hashable, caller: str) -> None:
        """Wait for the turn of a request, whose body has arrived. `end` must follow, whatever
        happens. Raises GatewayError 503 if too many wait."""
        if self._holder is None:
            self._holder = request
            return
        self._make_room(caller)
        turn: AsyncResult[None] = AsyncResult()
        self._waiting.setdefault(caller, []).append((request, turn))
        turn.get()

    def end(self, request: Hashable) -> None:
        """A request has no turn any more, nor waits for one."""
        if self._holder is request:
            self._holder = _PAUSE
            # Its priority lets it fire when sockets have been read.
            self._timer = gevent.get_hub().loop.timer(0, priority=-1)
            self._timer.start(self._give)
            return
        for caller, queue in list(self._waiting.items()):
            self._keep(caller, [entry for entry in queue if entry[0] is not request])

    def _make_room(self, caller: str) -> None:
        if sum(map(len, self._waiting.values())) < self._most:
            return
        most = max(self._waiting, key=lambda name: len(self._waiting[name]))
        if len(self._waiting[most]) <= len(self._waiting.get(caller, ())) + 1:
            raise too_many_large_requests()
        *rest, (_, turn) = self._waiting[most]
        self._keep(most, rest)
        turn.set_exception(too_many_large_requests())

    def _give(self) -> None:
        """Called by the event loop: give the turn to the next request, if one waits."""
        self._timer.close()
        self._holder = None
        caller = next(iter(self._waiting), None)
        if caller is not None:
            (self._holder, turn), *rest = self._waiting.pop(caller)
            self._keep(caller, rest)  # behind the others
            turn.set()

    def _keep(self, caller: str, entries: list[_Entry]) -> None:
        """Only these requests of a caller still wait."""
        if entries:
            self._waiting[caller] = entries
        else:
            self._waiting.pop(caller, None)
