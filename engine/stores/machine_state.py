"""Numbers that the workers of one machine share, in mapped files of one folder.

`names` lists the names, one on each line; the number of its line is the place of a name. Each
worker has a slot, with files `cells.<slot>.<chunk>` that it alone writes: the sum over the slots is
a counter. `numbers.<chunk>` are written by all. A worker owns its slot by a lock that the system
releases however its process ends; another worker then sets its cells to 0.

Only new names, new slots, dead slots and decisions take a lock, for microseconds. To add to a
counter is one write to memory, and to read it one read for each slot. Room is reserved before a
file is mapped, because writing to a page for which the file system has no room ends the process.
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
"""The numbers of one file, 8 bytes each."""
_ZEROS = bytes(CHUNK * 8)

View = Any
"""A memoryview of integers or of floats, whose type has no item type before Python 3.14."""


class _Mapping:
    """A file of `CHUNK` numbers, mapped: integers ("q") or floats ("d"). With `lock`, this mapping
    owns the file until it is closed; BlockingIOError if another one does."""

    def __init__(self, path: Path, form: Literal["q", "d"], *, lock: bool = False) -> None:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if lock:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _reserve(fd)
            self._map = mmap.mmap(fd, CHUNK * 8)  # which has a descriptor of its own, and the lock
        finally:
            os.close(fd)
        self.view: View = memoryview(self._map).cast(form)

    def clear(self) -> None:
        """Set all numbers to 0."""
        self._map[:] = _ZEROS

    def close(self) -> None:
        """Unmap it, and release its lock."""
        self.view.release()
        self._map.close()


class _Counter:
    """A counter: this worker's cell, and those of all slots at the same place."""

    __slots__ = ("_at", "_own", "_state", "_views")

    def __init__(self, state: SharedState, own: View, views: list[View], at: int) -> None:
        self._state, self._own, self._views, self._at = state, own, views, at

    @property
    def own(self) -> int:
        return int(self._own[self._at])

    def add(self, amount: int) -> None:
        self._own[self._at] += amount

    def total(self) -> int:
        state, at = self._state, self._at
        if state.changes[0] != state.seen_changes:
            state.map_slots()
        return sum([view[at] for view in self._views])


class _Number:
    """A number that all workers write."""

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
    """The state in `folder`, as one worker sees it: open it after the fork. OSError if there is no
    room, or if the folder belongs to another user.

    `changes` has at 0 the number of files of cells that were ever added, `seen_changes` is the one
    that this worker has seen.
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
        self._own: dict[int, _Mapping] = {}
        self._cells: dict[tuple[int, int], _Mapping] = {}  # of other workers, by slot and chunk
        self._views: dict[int, list[View]] = {}
        self._number_files: dict[int, _Mapping] = {}
        self._changes = _Mapping(folder / "changes", "q")
        self.changes, self.seen_changes = self._changes.view, -1
        with self._locked():
            self._take_slot()

    def counter(self, name: str) -> SharedCounter:
        """The counter of a name. Where there is no room for it, it counts for this worker alone,
        and the log says so."""
        counter = self._counters.get(name)
        if counter is None:
            try:
                counter = self._new_counter(name)
            except OSError as error:
                counter = self._without_room(error).counter(name)
            self._counters[name] = counter
        return counter

    def number(self, name: str) -> SharedNumber:
        """The number of a name; as `counter` where there is no room for it."""
        number = self._numbers.get(name)
        if number is None:
            try:
                number = self._new_number(name)
            except OSError as error:
                number = self._without_room(error).number(name)
            self._numbers[name] = number
        return number

    def leads(self, task: str) -> bool:
        """Whether this worker does a task. The first one that asks does, until it ends. Where there
        is no room for its lock, every worker does it."""
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
        """Keep other workers from deciding. Where there is no room for the lock, nothing does."""
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(_locked(self._folder / "decisions"))
            except OSError as error:
                self._without_room(error)
            yield

    def release_dead_slots(self) -> None:
        """Set the cells of workers that ended to 0, and see the slots that could not be mapped when
        they were added. Call it once a second."""
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
        """See the slots that were added since the last call. Where there is no room or descriptor
        for one, the log says so, and it is not counted."""
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
        """Give the slot and the tasks back. No number of this state may be used after that."""
        for mapping in self._own.values():
            mapping.clear()
        files = [*self._own.values(), *self._cells.values(), *self._number_files.values()]
        for mapping in [*files, self._changes]:
            mapping.close()
        for fd in self._tasks.values():
            os.close(fd)

    def _new_counter(self, name: str) -> SharedCounter:
        chunk, at = divmod(self._place(name), CHUNK)
        if chunk not in self._own:
            with self._locked():
                self._add_chunk(chunk, _Mapping(self._path(self._slot, chunk), "q"))
        return _Counter(self, self._own[chunk].view, self._views[chunk], at)

    def _new_number(self, name: str) -> SharedNumber:
        chunk, at = divmod(self._place(name), CHUNK)
        if chunk not in self._number_files:
            self._number_files[chunk] = _Mapping(self._folder / f"numbers.{chunk}", "d")
        return _Number(self._number_files[chunk].view, at)

    def _place(self, name: str) -> int:
        """The place of a name, which is added where it is new."""
        if name not in self._places:
            with self._locked() as names:
                self._read_names(names)
                if name not in self._places:
                    self._append_name(names, name)
        return self._places[name]

    def _append_name(self, names: int, name: str) -> None:
        """Raises OSError if its line does not fit: it has no place then, in any worker."""
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
        """Own the first slot that no process owns."""
        for slot in count():
            with contextlib.suppress(BlockingIOError):
                mapping = _Mapping(self._path(slot, 0), "q", lock=True)
                break
        self._slot = slot
        self._clear(slot)
        self._add_chunk(0, mapping)

    def _add_chunk(self, chunk: int, mapping: _Mapping) -> None:
        self._own[chunk] = mapping
        self._views.setdefault(chunk, []).append(mapping.view)
        self.changes[0] += 1

    def _clear(self, slot: int) -> None:
        """Set the cells of a slot to 0."""
        for each, chunk in self._slot_files():
            if each == slot:
                with contextlib.closing(_Mapping(self._path(slot, chunk), "q")) as mapping:
                    mapping.clear()

    def _slot_files(self) -> list[tuple[int, int]]:
        """The slots and chunks of all files of cells."""
        names = (entry.name.split(".") for entry in os.scandir(self._folder))
        return [(int(name[1]), int(name[2])) for name in names if name[0] == "cells"]

    def _path(self, slot: int, chunk: int) -> Path:
        return self._folder / f"cells.{slot}.{chunk}"

    def _locked(self) -> contextlib.AbstractContextManager[int]:
        """Hold the lock of the folder, for changes to its files: it is on the file of names, whose
        descriptor is given."""
        return _locked(self._folder / "names")

    def _without_room(self, error: OSError) -> LocalState:
        self._throttle.log("what workers share does not fit in %s: %s", self._folder, error)
        return self._local


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Hold the lock of a file; its descriptor is given."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield fd
    finally:
        os.close(fd)


def _reserve(fd: int) -> None:
    """Reserve the pages of a file of numbers that is new; they are zeros."""
    if os.fstat(fd).st_size == CHUNK * 8:
        return
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(fd, 0, CHUNK * 8)
    else:
        os.ftruncate(fd, CHUNK * 8)
