"""Slots and queues in the shared memory of one machine: exact over all its workers.

Each call is one transaction of an LMDB database, which takes some microseconds. A worker that finds
no free slot frees the slots of dead workers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TypeVar, overload

import lmdb

from engine.machine.shared_memory import Attachment, SharedMemory
from engine.process.log_throttle import LogThrottle
from engine.process.runtime_dir import prepare
from engine.stores.admission.queue import QueueState
from engine.values.admission import Figures, Served

SIZE = 64 << 20
T = TypeVar("T")
_Change = Callable[[QueueState, SharedMemory, int], T]


def clock() -> int:
    """Microseconds of a monotonic clock that all processes of a machine share."""
    return time.monotonic_ns() // 1000


class QueueFolder:
    """The folder that holds the queues of all bounds. Raises OSError if it cannot be used."""

    def __init__(self, path: Path) -> None:
        self._path, self._attachment = path, Attachment(path, SIZE)
        self._throttle = LogThrottle()
        prepare(path)

    def queue(self, name: str) -> SharedQueue:
        """The queue of a bound by its name."""
        return SharedQueue(self, sha256(name.encode()).digest())

    def memory(self) -> SharedMemory:
        """The database of this process. Raises OSError, lmdb.Error."""
        return self._attachment.memory()

    def warn(self, error: Exception) -> None:
        """Log that the queues are unavailable, once a minute."""
        self._throttle.log("admission: %s: requests pass uncounted: %s", self._path, error)

    def close(self) -> None:
        self._attachment.close()


class SharedQueue:
    """The AdmissionQueue of one bound. If shared memory fails, requests pass, which is logged.

    Slots that were taken or given back during a failure are counted with the next successful
    change. If the database was replaced, all slots of this worker are counted again.
    """

    def __init__(self, folder: QueueFolder, key: bytes) -> None:
        self._folder, self._key = folder, key
        self._held = 0  # slots of this worker
        self._counted = 0  # of those, counted in the database `_memory`
        self._memory: SharedMemory | None = None

    def enter(self, rank: int, bound: int) -> bool:
        def enter(state: QueueState, memory: SharedMemory, now: int) -> bool:
            if state.enter(memory.worker, rank, bound):
                return True
            state.drop_dead(memory.alive, now)
            return state.enter(memory.worker, rank, bound)

        return self._change(enter, True, extra=1)

    def join(self, rank: int, size: int, until: float) -> int | None:
        end = round(until * 1e6)
        return self._change(lambda state, memory, _: state.join(memory.worker, rank, size, end))

    def serve(self, tickets: Sequence[int], bound: int) -> Served:
        def serve(state: QueueState, memory: SharedMemory, now: int) -> Served:
            state.drop_dead(memory.alive, now)
            admitted = state.admit(tickets, bound, now)
            current = {*state.waiting.numbers, *admitted}
            return Served(admitted, [ticket for ticket in tickets if ticket not in current])

        return self._change(serve, Served(tickets, ()), extra=len(tickets))

    def leave(self, ticket: int) -> None:
        self._change(lambda state, memory, now: state.leave(ticket))

    def release(self) -> None:
        self._change(lambda state, memory, now: state.release(memory.worker), extra=-1)

    def figures(self) -> Figures:
        def figures(state: QueueState, memory: SharedMemory, now: int) -> Figures:
            state.drop_dead(memory.alive, now)
            return Figures(state.in_flight, len(state.waiting))

        return self._change(figures, Figures(0, 0))

    @overload
    def _change(self, change: _Change[T], failed: T, *, extra: int = 0) -> T: ...
    @overload
    def _change(self, change: _Change[T], failed: None = None, *, extra: int = 0) -> T | None: ...
    def _change(self, change: _Change[T], failed: T | None = None, *, extra: int = 0) -> T | None:
        """Change the state in a transaction, and return the result. If the transaction fails, count
        `extra` slots as held by this worker, and return `failed`."""
        try:
            memory = self._folder.memory()
            with memory.begin() as txn:
                before = txn.get(self._key)
                state = QueueState(before)
                counted = self._counted if memory is self._memory else 0
                state.add(memory.worker, self._held - counted)
                slots = state.slots(memory.worker)
                result = change(state, memory, clock())
                slots_held = self._held + state.slots(memory.worker) - slots
                after = state.record()
                if after != before:
                    if len(after) > len(before or b"") and not memory.has_room(txn):
                        raise OSError("there is no room")
                    txn.put(self._key, after)
        except (OSError, lmdb.Error) as error:
            self._held = max(0, self._held + extra)
            self._folder.warn(error)
            return failed
        self._memory, self._held, self._counted = memory, slots_held, slots_held
        return result
