"""The responses that a socket remembers, so that a request can continue one by its id.

A response is remembered as the items of the whole conversation up to its end, as they stand between
the brackets of `input`: an upstream that speaks HTTP is asked with all of them. That works with
`store: false` and with upstreams of any vendor, which do not know the id.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

PER_LANE = 8
"""Responses that a lane remembers at most: the latest, and those that a client may return to."""

PER_WORKER = 256 * 1024 * 1024
"""Bytes of the responses that all sockets of a worker remember; of more, the oldest go first."""


class Remembered(NamedTuple):
    """The items of a conversation, and the lane that made its last response."""

    items: bytes
    stream_id: str


class MemoryBudget:
    """The bytes that the sockets of a worker remember together, oldest first."""

    def __init__(self, size: int = PER_WORKER) -> None:
        self._size, self._used = size, 0
        self._entries: OrderedDict[tuple[ResponseMemory, str], int] = OrderedDict()

    def add(self, memory: ResponseMemory, response: str, size: int) -> None:
        """Count an entry, and make the oldest ones be forgotten while there are too many bytes."""
        self._entries[memory, response] = size
        self._used += size
        while self._used > self._size:
            (oldest, name), _ = next(iter(self._entries.items()))
            oldest.forget(name)

    def remove(self, memory: ResponseMemory, response: str) -> None:
        """Count an entry no longer."""
        self._used -= self._entries.pop((memory, response), 0)


class ResponseMemory:
    """The responses of one socket by id, at most `PER_LANE` of a lane and `size` bytes in all."""

    def __init__(self, size: int, budget: MemoryBudget) -> None:
        self._size, self._used = size, 0
        self._budget = budget
        self._responses: dict[str, Remembered] = {}  # oldest first

    def __len__(self) -> int:
        return len(self._responses)

    def get(self, response: str) -> Remembered | None:
        """The conversation up to this response, None if it is not remembered."""
        return self._responses.get(response)

    def add(self, response: str, items: bytes, stream_id: str) -> None:
        """Remember a response. One that is too large is not, nor is what it replaces."""
        self.forget(response)
        if len(items) > self._size:
            return
        of_lane = [key for key, entry in self._responses.items() if entry.stream_id == stream_id]
        for oldest in of_lane[: max(0, len(of_lane) - PER_LANE + 1)]:
            self.forget(oldest)
        while self._used + len(items) > self._size:
            self.forget(next(iter(self._responses)))
        self._responses[response] = Remembered(items, stream_id)
        self._used += len(items)
        self._budget.add(self, response, len(items))

    def forget(self, response: str) -> None:
        """Forget a response, if it is remembered."""
        entry = self._responses.pop(response, None)
        if entry is not None:
            self._used -= len(entry.items)
            self._budget.remove(self, response)

    def clear(self) -> None:
        """Forget everything: the socket has closed."""
        for response in list(self._responses):
            self.forget(response)
