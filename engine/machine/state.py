"""Counters and numbers that the workers of one machine share, in mapped files of one folder.

The file `names` says which name has which place (`names.py`): a few counters and numbers side by
side. Counters are in the cells of each worker's slot (`slots.py`), `numbers.<chunk>` are written by
all. Where another file would be needed although half of one is used by no worker, places are given
to new names, and start at 0: so what was known of addresses that went away takes no room for ever.

Only names that a worker did not use yet, new slots, dead slots and decisions take a lock, for
microseconds. To add to a counter is one write to memory, and to read it one read for each slot.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from weakref import WeakValueDictionary

from engine.machine.mapped_numbers import PLACES, MappedNumbers
from engine.machine.names import NamePlaces, digest_of
from engine.machine.slots import Chunk, Record, WorkerSlots
from engine.machine.worker_locks import locked, try_lock
from engine.process.log_throttle import LogThrottle
from engine.process.runtime_dir import prepare
from engine.values.machine_state import WIDTH, LocalState, SharedRecord


class SharedState:
    """The state in `folder`, as one worker sees it: open it after the fork. OSError if there is no
    room, or if the folder belongs to another user."""

    def __init__(self, folder: Path) -> None:
        prepare(folder)
        self._folder, self._names_file = folder, folder / "names"
        self._records: WeakValueDictionary[int, Record] = WeakValueDictionary()  # by place
        self._chunks: dict[int, Chunk] = {}
        self._tasks: dict[str, int] = {}
        self._local = LocalState()
        self._throttle = LogThrottle()
        self._number_files: dict[int, MappedNumbers] = {}
        self._unused: list[int] = []  # places that no worker used
        self._changes = MappedNumbers(folder / "changes", "q")
        self._names = NamePlaces(self._changes.view[1:])
        with self._locked():
            self._slots = WorkerSlots(folder, self._changes.view, self._without_room)

    def record(self, name: str) -> SharedRecord:
        """The record of a name. Without room for it, it is this worker's alone, which is
        logged."""
        try:
            return self._record(digest_of(name))
        except OSError as error:
            return self._without_room(error).record(name)

    def leads(self, task: str) -> bool:
        """Whether this worker is the leader for a task: the first one that calls this, until it
        ends. Without room for the lock, every worker is."""
        if task in self._tasks:
            return True
        try:
            fd = try_lock(self._folder / f"task.{digest_of(task).hex()}")
        except OSError as error:
            return self._without_room(error).leads(task)
        if fd is None:
            return False
        self._tasks[task] = fd
        return True

    @contextlib.contextmanager
    def deciding(self) -> Iterator[None]:
        """Hold the lock for decisions, which one worker makes at a time. Without room for the lock,
        there is no mutual exclusion."""
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(locked(self._folder / "decisions"))
            except OSError as error:
                self._without_room(error)
            yield

    def release_dead_slots(self) -> None:
        """Set the cells of workers that ended to 0, and see the slots that could not be mapped when
        they were added. Call it once a second. If the folder was removed, they stay."""
        try:
            if self._slots.has_dead():
                with self._locked():
                    self._slots.release_dead()
        except FileNotFoundError as error:
            self._without_room(error)

    def close(self) -> None:
        """Give the slot and the tasks back. No number of this state may be used after that."""
        self._slots.close()
        self._names.close()
        for mapping in (*self._number_files.values(), self._changes):
            mapping.close()
        for fd in self._tasks.values():
            os.close(fd)

    def _record(self, digest: bytes) -> Record:
        """The record of a name, which is added where it is new. No worker gives its place to
        another name before this one has marked it, nor as long as the record marks it."""
        place = self._names.find(digest)
        record = None if place is None else self._records.get(place)
        if record is None:
            with self._locked() as fd:
                self._names.read(fd)
                place = self._names.find(digest)
                if place is None:
                    place = self._new_place(fd, digest)
                chunk, at = divmod(place, PLACES)
                record = self._records[place] = Record(self._chunk(chunk), at)
        return record

    def _chunk(self, number: int) -> Chunk:
        if number not in self._chunks:
            slots = self._slots
            worker_slots, numbers = slots.own(number), self._number_file(number).view
            self._chunks[number] = Chunk(slots, worker_slots, slots.views(number), numbers)
        return self._chunks[number]

    def _new_place(self, fd: int, digest: bytes) -> int:
        """A place for a new name: one that no worker uses, where there are many."""
        chunks, full = divmod(len(self._names), PLACES)
        place = self._unused_place()
        if place is None and not full:
            unused = self._slots.unmarked(chunks)
            self._unused = unused if len(unused) >= PLACES // 2 else []
            place = self._unused_place()
        if place is None:
            return self._names.append(fd, digest)
        chunk, at = divmod(place, PLACES)
        for column in range(WIDTH):
            self._number_file(chunk).view[at * WIDTH + column] = 0.0
        self._slots.reset(place)
        self._names.give(fd, place, digest)
        return place

    def _unused_place(self) -> int | None:
        while self._unused:
            place = self._unused.pop()
            if self._slots.is_unmarked(place):
                return place
        return None

    def _number_file(self, chunk: int) -> MappedNumbers:
        if chunk not in self._number_files:
            self._number_files[chunk] = MappedNumbers(self._folder / f"numbers.{chunk}", "d")
        return self._number_files[chunk]

    def _locked(self) -> contextlib.AbstractContextManager[int]:
        """Hold the lock of the folder, for changes to its files: it is on the file of names, whose
        descriptor is given."""
        return locked(self._names_file)

    def _without_room(self, error: OSError) -> LocalState:
        self._throttle.log("no room for shared counters in %s: %s", self._folder, error)
        return self._local
