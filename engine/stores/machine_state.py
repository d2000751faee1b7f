"""Counters and numbers that the workers of one machine share, in mapped files of one folder.

`names` lists the names, one per line; the line number of a name is its place. Each worker has a
slot, with files `cells.<slot>.<chunk>` that only it writes: the sum over the slots is a counter.
All workers write `numbers.<chunk>`. A worker owns its slot by a lock that the system releases
however its process ends; another worker then sets its cells to 0.

Only new names, new slots, dead slots and decisions take a lock, for microseconds. Adding to a
counter is one write to memory, and reading it one read per slot. Room is reserved before a file is
mapped, because a write to a page without room in the file system kills the process.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import mmap
import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, Literal

from engine.values.machine_state import LocalState, SharedCounter, SharedNumber
from engine.values.runtime_dir import prepare
from engine.values.throttle import LogThrottle

CHUNK = 4096
"""The number of values in a file, 8 bytes each."""
_ZEROS = bytes(CHUNK * 8)

View = Any
"""A memoryview of integers or floats; memoryview is not generic before Python 3.14."""


class _Mapping:
    """A mapped file of `CHUNK` integers ("q") or floats ("d"). With `lock` it is locked until the
    mapping is closed. Raises BlockingIOError if it is locked already, OSError without room."""

    def __init__(self, path: Path, form: Literal["q", "d"], *, lock: bool = False) -> None:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if lock:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _reserve(fd)
            self._map = mmap.mmap(fd, CHUNK * 8)  # duplicates the descriptor, and so the lock
        finally:
            os.close(fd)
        self.view: View = memoryview(self._map).cast(form)

    def clear(self) -> None:
        """Set all numbers to 0."""
        self._map[:] = _ZEROS

    def close(self) -> None:
        """Unmap the file, and release its lock."""
        self.view.release()
        self._map.close()


class _Counter:
    """A counter: the cell of this worker, and the cells of all slots at the same place."""

    __slots__ = ("_at", "_local", "_state", "_views")

    def __init__(self, state: SharedState, local: View, views: list[View], at: int) -> None:
        self._state, self._local, self._views, self._at = state, local, views, at

    @property
    def local(self) -> int:
        return int(self._local[self._at])

    def add(self, amount: int) -> None:
        self._local[self._at] += amount

    def total(self) -> int:
        state, at = self._state, self._at
        if state.changes[0] != state.seen_changes:
            state.map_slots()
        return sum([view[at] for view in self._views])


class _Number:
    """A number that all workers read and write."""

    __slots__ = ("_at", "_view")

    def __init__(self, view: View, at: int) -> None:
        self._view, self._at = view, at

    @property
    def value(self) -> float:
        return float(self._view[self._at])

    @value.setter
    def value(self, value: float) -> None:
        self._view[self._at] = value


class SharedState:
    """The state in `folder`, in one worker: open it after the fork. Raises OSError if there is no
    room, or if the folder belongs to another user.

    `changes[0]` is the number of cell files that were ever added, `seen_changes` its value when
    this worker last mapped them.
    """

    def __init__(self, folder: Path) -> None:
        prepare(folder)
        self._folder = folder
        self._read_size = 0
        self._places: dict[str, int] = {}
        self._counters: dict[str, SharedCounter] = {}
        self._numbers: dict[str, SharedNumber] = {}
        self._tasks: dict[str, int] = {}
        self._local = LocalState()
        self._throttle = LogThrottle()
        self._slot = -1
        self._missing = False  # a slot that could not be mapped
        self._local_mappings: dict[int, _Mapping] = {}
        self._cells: dict[tuple[int, int], _Mapping] = {}  # of other workers, by slot and chunk
        self._views: dict[int, list[View]] = {}
        self._number_files: dict[int, _Mapping] = {}
        self._changes = _Mapping(folder / "changes", "q")
        self.changes, self.seen_changes = self._changes.view, -1
        with self._locked():
            self._take_slot()

    def counter(self, name: str) -> SharedCounter:
        """The counter of a name. Without room for it, it counts only for this worker, which is
        logged."""
        counter = self._counters.get(name)
        if counter is None:
            try:
                counter = self._new_counter(name)
            except OSError as error:
                counter = self._without_room(error).counter(name)
            self._counters[name] = counter
        return counter

    def number(self, name: str) -> SharedNumber:
        """The number of a name. Without room for it, it is not shared, as for `counter`."""
        number = self._numbers.get(name)
        if number is None:
            try:
                number = self._new_number(name)
            except OSError as error:
                number = self._without_room(error).number(name)
            self._numbers[name] = number
        return number

    def leads(self, task: str) -> bool:
        """Whether this worker is the leader for a task: the first one that calls this, until it
        ends. Without room for the lock, every worker is."""
        if task in self._tasks:
            return True
        try:
            path = self._folder / f"task.{self._place(task)}"
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            return self._without_room(error).leads(task)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return False
        self._tasks[task] = fd
        return True

    @contextlib.contextmanager
    def deciding(self) -> Iterator[None]:
        """Hold the lock for decisions, which one worker makes at a time. Without room for the lock,
        there is no mutual exclusion."""
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(_locked(self._folder / "decisions"))
            except OSError as error:
                self._without_room(error)
            yield

    def release_dead_slots(self) -> None:
        """Set the cells of ended workers to 0, and retry mapping slots. Call it once a second."""
        if self._missing or self.changes[0] != self.seen_changes:
            self.map_slots()
        others = {slot for slot, _ in self._cells}
        if not others:
            return
        with self._locked():
            for slot in others:
                try:
                    first = _Mapping(self._path(slot, 0), "q", lock=True)
                except BlockingIOError:
                    continue  # its worker lives
                with contextlib.closing(first):
                    self._clear(slot)

    def map_slots(self) -> None:
        """Map the slots that were added since the last call. A slot without room or a descriptor is
        logged and not counted."""
        self.seen_changes, self._missing = self.changes[0], False
        try:
            for slot, chunk in self._slot_files():
                if slot == self._slot or (slot, chunk) in self._cells:
                    continue
                mapping = self._cells[slot, chunk] = _Mapping(self._path(slot, chunk), "q")
                self._views.setdefault(chunk, []).append(mapping.view)
        except OSError as error:
            self._without_room(error)
            self._missing = True

    def close(self) -> None:
        """Release the slot and the tasks. Its counters and numbers must not be used any more."""
        for mapping in self._local_mappings.values():
            mapping.clear()
        files = [
            *self._local_mappings.values(),
            *self._cells.values(),
            *self._number_files.values(),
        ]
        for mapping in [*files, self._changes]:
            mapping.close()
        for fd in self._tasks.values():
            os.close(fd)

    def _new_counter(self, name: str) -> SharedCounter:
        chunk, at = divmod(self._place(name), CHUNK)
        if chunk not in self._local_mappings:
            with self._locked():
                self._add_chunk(chunk, _Mapping(self._path(self._slot, chunk), "q"))
        return _Counter(self, self._local_mappings[chunk].view, self._views[chunk], at)

    def _new_number(self, name: str) -> SharedNumber:
        chunk, at = divmod(self._place(name), CHUNK)
        if chunk not in self._number_files:
            self._number_files[chunk] = _Mapping(self._folder / f"numbers.{chunk}", "d")
        return _Number(self._number_files[chunk].view, at)

    def _place(self, name: str) -> int:
        """The place of a name; a new name is added."""
        if name not in self._places:
            with self._locked() as names:
                self._read_names(names)
                if name not in self._places:
                    self._append_name(names, name)
        return self._places[name]

    def _append_name(self, names: int, name: str) -> None:
        """Append a name. Raises OSError if its line does not fit; then no worker has the name."""
        line = name.encode("unicode_escape") + b"\n"
        if os.pwrite(names, line, self._read_size) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._read_size += len(line)
        self._places[name] = len(self._places)

    def _read_names(self, names: int) -> None:
        size = os.fstat(names).st_size - self._read_size
        data = os.pread(names, size, self._read_size) if size else b""
        for line in data[: data.rfind(b"\n") + 1].splitlines(keepends=True):
            self._places[line[:-1].decode("unicode_escape")] = len(self._places)
            self._read_size += len(line)

    def _take_slot(self) -> None:
        """Take the first slot that no process owns."""
        for slot in count():
            with contextlib.suppress(BlockingIOError):
                mapping = _Mapping(self._path(slot, 0), "q", lock=True)
                break
        self._slot = slot
        self._clear(slot)
        self._add_chunk(0, mapping)

    def _add_chunk(self, chunk: int, mapping: _Mapping) -> None:
        self._local_mappings[chunk] = mapping
        self._views.setdefault(chunk, []).append(mapping.view)
        self.changes[0] += 1

    def _clear(self, slot: int) -> None:
        """Set the cells of a slot to 0."""
        for file_slot, chunk in self._slot_files():
            if file_slot == slot:
                with contextlib.closing(_Mapping(self._path(slot, chunk), "q")) as mapping:
                    mapping.clear()

    def _slot_files(self) -> list[tuple[int, int]]:
        """The slot and chunk of each cell file."""
        names = (entry.name.split(".") for entry in os.scandir(self._folder))
        return [(int(name[1]), int(name[2])) for name in names if name[0] == "cells"]

    def _path(self, slot: int, chunk: int) -> Path:
        return self._folder / f"cells.{slot}.{chunk}"

    def _locked(self) -> contextlib.AbstractContextManager[int]:
        """Hold the lock of the folder, for changes to its files: the lock of `names`. The context
        is the descriptor of that file."""
        return _locked(self._folder / "names")

    def _without_room(self, error: OSError) -> LocalState:
        self._throttle.log("no room for shared counters in %s: %s", self._folder, error)
        return self._local


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Hold the lock of a file. The context is its descriptor."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield fd
    finally:
        os.close(fd)


def _reserve(fd: int) -> None:
    """Reserve the pages of a new file, filled with zeros."""
    if os.fstat(fd).st_size == CHUNK * 8:
        return
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(fd, 0, CHUNK * 8)
    else:
        os.ftruncate(fd, CHUNK * 8)
