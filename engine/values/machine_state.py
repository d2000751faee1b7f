"""Numbers shared by the workers of one machine: requests in flight, averages, leaders of tasks.

`LocalState` serves a single process, `stores/machine_state.py` all processes of a machine.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class SharedCounter(Protocol):
    """A sum over the workers. Each worker changes its own part; a dead worker's part counts as
    0."""

    @property
    def local(self) -> int:
        """The part of this worker."""
        ...

    def add(self, amount: int) -> None:
        """Change the part of this worker; `amount` may be negative."""
        ...

    def total(self) -> int:
        """The sum of all workers' parts."""
        ...


class SharedNumber(Protocol):
    """One number of the machine, 0.0 at first: the last one to write it wins."""

    value: float


class MachineState(Protocol):
    """The shared numbers by name: a name has eight counters and eight numbers, by `column`. They
    are side by side in memory, and cost less than those of several names. Times are
    `time.monotonic`, which all processes of a machine share. A name is created at its first use
    and exists while a worker holds one of its numbers; after that it may be removed, and its
    numbers begin at 0 again."""

    def counter(self, name: str, column: int = 0) -> SharedCounter: ...

    def number(self, name: str, column: int = 0) -> SharedNumber: ...

    def leads(self, task: str) -> bool:
        """Whether this worker is the leader of a task: the one that does it for the machine. A
        leader stays leader until it ends; then the next worker that asks becomes leader."""
        ...

    def deciding(self) -> AbstractContextManager[None]:
        """A lock around a decision that reads these numbers, held for microseconds: without it, two
        workers could act on the same reading. Not reentrant."""
        ...

    def close(self) -> None: ...


class LocalCounter:
    """A counter of one process."""

    __slots__ = ("local",)

    def __init__(self) -> None:
        self.local = 0

    def add(self, amount: int) -> None:
        self.local += amount

    def total(self) -> int:
        return self.local


class LocalNumber:
    """A number of one process."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0


class LocalState:
    """The state of one process, which shares it with no other."""

    def __init__(self) -> None:
        self._counters: dict[tuple[str, int], LocalCounter] = {}
        self._numbers: dict[tuple[str, int], LocalNumber] = {}

    def counter(self, name: str, column: int = 0) -> LocalCounter:
        return self._counters.setdefault((name, column), LocalCounter())

    def number(self, name: str, column: int = 0) -> LocalNumber:
        return self._numbers.setdefault((name, column), LocalNumber())

    def leads(self, task: str) -> bool:
        """Always: there is no other process."""
        return True

    def deciding(self) -> AbstractContextManager[None]:
        """No lock: there is no other process."""
        return nullcontext()

    def close(self) -> None:
        """There is nothing to close."""
