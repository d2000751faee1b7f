"""Numbers shared by the workers of one machine: requests in flight, averages, leaders of tasks.

`LocalState` serves a single process, `machine/state.py` all processes of a machine.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

WIDTH = 8
"""The counters of a record, and its numbers."""


class SharedRecord(Protocol):
    """The counters and the numbers of one name, eight of each, by column. All are 0 at first.

    A counter is a sum over the workers: each worker changes its own part, and a dead worker's part
    counts as 0. A number is one of the machine: the last one to write it wins. They are side by
    side in memory, and cost less than those of several names."""

    def add(self, column: int, amount: int, /) -> None:
        """Change the part of this worker of a counter; `amount` may be negative."""
        ...

    def total(self, column: int, /) -> int:
        """The sum of all workers' parts of a counter."""
        ...

    def number(self, column: int, /) -> float: ...

    def set_number(self, column: int, value: float, /) -> None: ...


class MachineState(Protocol):
    """The shared records by name. Times are `time.monotonic`, which all processes of a machine
    share. A name is created at its first use and exists while a worker holds its record; after that
    it may be removed, and its numbers begin at 0 again."""

    def record(self, name: str) -> SharedRecord:
        """The record of a name: the same one as long as it is held."""
        ...

    def leads(self, task: str) -> bool:
        """Whether this worker is the leader of a task: the one that does it for the machine. A
        leader stays leader until it ends; then the next worker that asks becomes leader."""
        ...

    def deciding(self) -> AbstractContextManager[None]:
        """A lock around a decision that reads these numbers, held for microseconds: without it, two
        workers could act on the same reading. Not reentrant."""
        ...

    def close(self) -> None: ...


class LocalRecord:
    """A record of one process."""

    __slots__ = ("_counters", "_numbers")

    def __init__(self) -> None:
        self._counters = [0] * WIDTH
        self._numbers = [0.0] * WIDTH

    def add(self, column: int, amount: int) -> None:
        self._counters[column] += amount

    def total(self, column: int) -> int:
        return self._counters[column]

    def number(self, column: int) -> float:
        return self._numbers[column]

    def set_number(self, column: int, value: float) -> None:
        self._numbers[column] = value


class LocalState:
    """The state of one process, which shares it with no other."""

    def __init__(self) -> None:
        self._records: dict[str, LocalRecord] = {}

    def record(self, name: str) -> LocalRecord:
        return self._records.setdefault(name, LocalRecord())

    def leads(self, task: str) -> bool:
        """Always: there is no other process."""
        return True

    def deciding(self) -> AbstractContextManager[None]:
        """No lock: there is no other process."""
        return nullcontext()

    def close(self) -> None:
        """There is nothing to close."""
