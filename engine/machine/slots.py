"""The slots of the workers of a machine: files `cells.<slot>.<chunk>` of one folder.

A worker alone writes the cells of its slot; the sum over the slots is a counter. It owns the slot
by a lock that the system releases however its process ends; another worker then sets its cells to
0. Behind the cells it marks the places that it uses.

Functions that need the lock of the folder say so; it is not taken here.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, MutableSequence, Sequence
from pathlib import Path

from engine.machine.mapped_numbers import PLACES, MappedNumbers, View
from engine.machine.worker_locks import lock_number, try_lock
from engine.values.machine_state import WIDTH


class WorkerSlots:
    """The slots in `folder`, of which this worker takes one: with the lock of the folder.

    `changes` has at 0 the number of files of cells that were ever added. `failed` is called where
    there is no room or descriptor for the slot of another worker, which is not counted then.
    """

    def __init__(self, folder: Path, changes: View, failed: Callable[[OSError], object]) -> None:
        self._folder, self._failed = folder, failed
        self.changes, self.seen_changes = changes, -1
        self._process = os.getpid()  # 0 when this is closed
        self._missing = False  # a slot that could not be mapped
        self._own: dict[int, MappedNumbers] = {}
        self._others: dict[tuple[int, int], MappedNumbers] = {}  # by slot and chunk
        self._views: dict[int, list[View]] = {}  # of all slots, by chunk
        self._marks: dict[int, list[View]] = {}
        self._slot, fd = lock_number(lambda slot: self._path(slot, 0))
        mapping = self._open(self._slot, 0, fd)
        self._clear(self._slot)
        self._add(0, mapping)

    @property
    def is_open(self) -> bool:
        """Whether this is the process that took the slot, and it was not closed. What a forked
        child forgets, this one still uses."""
        return self._process == os.getpid()

    def own(self, chunk: int) -> MappedNumbers:
        """The cells of this worker. Call it with the lock of the folder. OSError without room."""
        if chunk not in self._own:
            self._add(chunk, self._open(self._slot, chunk))
        return self._own[chunk]

    def views(self, chunk: int) -> list[View]:
        """The cells of all slots that are known, also of those that are added later."""
        return self._views[chunk]

    def map_new(self) -> None:
        """See the slots that were added since the last call."""
        self.seen_changes, self._missing = self.changes[0], False
        try:
            for slot, chunk in self._files():
                if slot == self._slot or (slot, chunk) in self._others:
                    continue
                mapping = self._others[slot, chunk] = self._open(slot, chunk)
                self._add_views(chunk, mapping)
        except OSError as error:
            self._failed(error)
            self._missing = True

    def has_dead(self) -> bool:
        """Whether there are slots of other workers, which may have ended."""
        if self._missing or self.changes[0] != self.seen_changes:
            self.map_new()
        return bool(self._others)

    def release_dead(self) -> None:
        """Set the cells of workers that ended to 0. Call it with the lock of the folder."""
        for slot in {slot for slot, _ in self._others}:
            fd = try_lock(self._path(slot, 0))
            if fd is None:
                continue  # its worker lives
            with contextlib.closing(self._open(slot, 0, fd)):
                self._clear(slot)

    def unmarked(self, chunks: int) -> list[int]:
        """The places in so many chunks that no worker uses. Call it with the lock of the folder."""
        places = []
        for chunk in range(chunks):
            marks = 0
            for view in self._known_marks(chunk):
                marks |= int.from_bytes(view, "little")
            of_all = marks.to_bytes(PLACES, "little")
            places += [chunk * PLACES + at for at, mark in enumerate(of_all) if not mark]
        return [] if self._missing else places

    def is_unmarked(self, place: int) -> bool:
        """Whether no worker uses a place. Call it with the lock of the folder."""
        chunk, at = divmod(place, PLACES)
        return not any(view[at] for view in self._known_marks(chunk)) and not self._missing

    def reset(self, place: int) -> None:
        """Set all cells of an unmarked place to 0. Call it with the lock of the folder."""
        chunk, at = divmod(place, PLACES)
        for view in self._views.get(chunk, ()):
            for column in range(WIDTH):
                view[at * WIDTH + column] = 0

    def close(self) -> None:
        """Give the slot back."""
        self._process = 0
        for mapping in self._own.values():
            mapping.clear()
        for mapping in (*self._own.values(), *self._others.values()):
            mapping.close()

    def _known_marks(self, chunk: int) -> list[View]:
        if self.changes[0] != self.seen_changes:
            self.map_new()
        return self._marks.get(chunk, [])

    def _add(self, chunk: int, mapping: MappedNumbers) -> None:
        self._own[chunk] = mapping
        self._add_views(chunk, mapping)
        self.changes[0] += 1

    def _add_views(self, chunk: int, mapping: MappedNumbers) -> None:
        self._views.setdefault(chunk, []).append(mapping.view)
        self._marks.setdefault(chunk, []).append(mapping.bytes)

    def _clear(self, slot: int) -> None:
        for each, chunk in self._files():
            if each == slot:
                with contextlib.closing(self._open(slot, chunk)) as mapping:
                    mapping.clear()

    def _files(self) -> list[tuple[int, int]]:
        """The slots and chunks of all files of cells."""
        names = (path.name.split(".") for path in self._folder.iterdir())
        return [(int(name[1]), int(name[2])) for name in names if name[0] == "cells"]

    def _path(self, slot: int, chunk: int) -> Path:
        return self._folder / f"cells.{slot}.{chunk}"

    def _open(self, slot: int, chunk: int, fd: int | None = None) -> MappedNumbers:
        return MappedNumbers(self._path(slot, chunk), "q", bytes_too=True, fd=fd)


class Chunk:
    """The places of one chunk for a worker: its own cells and marks, the cells of all slots, and
    the numbers that all workers write."""

    __slots__ = ("marks", "numbers", "own", "slots", "views")

    def __init__(
        self, slots: WorkerSlots, own: MappedNumbers, views: list[View], numbers: View
    ) -> None:
        self.slots, self.marks = slots, own.bytes
        self.own: MutableSequence[int] = own.view
        self.views: list[Sequence[int]] = views
        self.numbers: MutableSequence[float] = numbers


class Record:
    """The counters and numbers at a place of a chunk, which is marked as long as this exists."""

    __slots__ = ("__weakref__", "_chunk", "_first")

    def __init__(self, chunk: Chunk, at: int) -> None:
        self._chunk, self._first = chunk, at * WIDTH
        chunk.marks[at] += 1

    def __del__(self) -> None:
        chunk = self._chunk
        if chunk.slots.is_open:
            chunk.marks[self._first // WIDTH] -= 1

    def add(self, column: int, amount: int) -> None:
        """Change this worker's cell of a counter."""
        self._chunk.own[self._first + column] += amount

    def total(self, column: int) -> int:
        """The sum of the cells of all slots."""
        chunk, at = self._chunk, self._first + column
        slots = chunk.slots
        if slots.changes[0] != slots.seen_changes:
            slots.map_new()
        total = 0
        for view in chunk.views:
            total += view[at]
        return total

    def number(self, column: int) -> float:
        """A number, as the last worker wrote it."""
        return self._chunk.numbers[self._first + column]

    def set_number(self, column: int, value: float) -> None:
        """Write a number."""
        self._chunk.numbers[self._first + column] = value
