"""An LMDB database in shared memory, open in all workers of one machine.


LMDB copies pages before it changes them, and its lock is released when its holder dies: a worker
that is killed within a transaction changes nothing and blocks no other. (A worker that is stopped
within the few microseconds of a transaction, by a debugger or SIGSTOP, does block the others.)
Memory is reserved before pages are written, because a write to a page without room in the file
system kills the process with SIGBUS.

A worker has a unique number, which is never reused. It is alive while it holds the lock on the byte
of that number in the file `workers`; the system releases the lock however the process ends.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import Any

import lmdb

from engine.machine.mapped_numbers import reserve
from engine.process.runtime_dir import prepare

Transaction = Any
"""lmdb.Transaction. Its stubs declare buffers as values, which LMDB returns only on request."""

WORKER_NUMBER = b"\xff" * 8 + b"workers"
"""The key of the last worker number."""
_LOCK_FILE_SIZE = 8192
"""That of LMDB's file of locks, for its default of 126 readers."""
_RESERVE_STEP = 1 << 20
_RESERVE_AHEAD = 1 << 20
_CHECK_INTERVAL = 1.0
"""Seconds between two checks that the database is still the one at its path."""


class SharedMemory:
    """The database at `path`, opened by this process; `size` is its upper bound in bytes.

    `file` (device and inode) tells the database from one that replaces it at the same path.
    `worker` is this process's number. `usable` is False after `close` and in child processes.
    Raises OSError without room in the file system.
    """

    def __init__(self, path: Path, size: int) -> None:
        prepare(path)
        self.path, self.size = path, size
        self.users = 0
        self.usable = True
        self._reserved = 0
        _reserve_lock_file(path)
        self._env = lmdb.open(
            str(path), map_size=size, sync=False, writemap=True, map_async=True, mode=0o600
        )
        self._page_size = self._env.stat()["psize"]
        self._data = os.open(path / "data.mdb", os.O_RDWR | os.O_CLOEXEC)
        status = os.fstat(self._data)
        self.file = status.st_dev, status.st_ino
        self._locks = os.open(path / "workers", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not self._reserve(min(_RESERVE_STEP, size)):
            self.close()
            raise _no_room(path)
        self.worker = self._new_worker_number()

    def begin(self) -> Transaction:
        """Begin a write transaction, after a wait for that of another worker: some microseconds."""
        return self._env.begin(write=True)

    def alive(self, worker: int) -> bool:
        """Whether a worker's process runs. Call it within a transaction only."""
        if worker == self.worker:
            return True
        try:
            fcntl.lockf(self._locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, worker)
        except (BlockingIOError, PermissionError):  # POSIX allows both
            return True
        fcntl.lockf(self._locks, fcntl.LOCK_UN, 1, worker)
        return False

    def has_room(self, txn: Transaction) -> bool:
        """Whether there is room for one more record. Call it before the record is written."""
        stat = txn.stat()
        used_bytes = (stat["leaf_pages"] + stat["branch_pages"]) * self._page_size
        # A quarter is left for copies of pages: freed pages are reusable only later.
        if used_bytes > self.size * 3 // 4:
            return False
        end = min(self.written_size() + _RESERVE_AHEAD, self.size)
        return end <= self._reserved or self._reserve(min(end + _RESERVE_STEP, self.size))

    def written_size(self) -> int:
        """Bytes of the file that have been written to."""
        last_page: int = self._env.info()["last_pgno"]
        return (last_page + 1) * self._page_size

    def is_current(self) -> bool:
        """Whether the file at the path is still this database."""
        try:
            return os.path.samestat(os.stat(self.path / "data.mdb"), os.fstat(self._data))
        except FileNotFoundError:
            return False

    def close(self) -> None:
        self.usable = False
        self._env.close()
        os.close(self._data)
        os.close(self._locks)

    def _reserve(self, end: int) -> bool:
        try:
            reserve(self._data, self._reserved, end)
        except OSError:  # ENOSPC, or the time was up: the caller reports that there is no room
            return False
        self._reserved = end
        return True

    def _new_worker_number(self) -> int:
        with self._env.begin(write=True) as txn:
            number = int.from_bytes(txn.get(WORKER_NUMBER, b""), "big") + 1
            fcntl.lockf(self._locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
            txn.put(WORKER_NUMBER, number.to_bytes(8, "big"))
        return number


def _reserve_lock_file(folder: Path) -> None:
    """Reserve the file that LMDB maps, and writes when it opens the database. One that was reserved
    is not opened: closing it would release the locks that LMDB has on it in this process."""
    path = folder / "lock.mdb"
    if path.exists() and (status := path.stat()).st_size and status.st_blocks:
        return
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        reserve(fd, 0, _LOCK_FILE_SIZE)
    except OSError as error:
        raise _no_room(folder) from error
    finally:
        os.close(fd)


def _no_room(folder: Path) -> OSError:
    return OSError(f"{folder}: no room for {_RESERVE_STEP} bytes of counters; make some")


class Attachment:
    """The use of the database at a path by one owner, who asks for it before each transaction. It
    is attached at the first one; again in a child process, and if it was removed."""

    def __init__(self, path: Path, size: int) -> None:
        self._path, self._size = path, size
        self._memory: SharedMemory | None = None
        self._next_check = 0.0

    def memory(self) -> SharedMemory:
        """The database of this process. Raises OSError, lmdb.Error."""
        memory, now = self._memory, time.monotonic()
        if memory is not None and memory.usable:
            if now < self._next_check:
                return memory
            self._next_check = now + _CHECK_INTERVAL
            if memory.is_current():
                return memory
        self._memory = None
        self._memory = attach(self._path, self._size)
        return self._memory

    def close(self) -> None:
        """End the use of the database."""
        if self._memory is not None:
            detach(self._memory)
            self._memory = None


_attached: dict[Path, SharedMemory] = {}


def attach(path: Path, size: int) -> SharedMemory:
    """The database at a path, opened once per process; again in a child process, or if it was
    removed. Each call needs a `detach`. Raises OSError, lmdb.Error."""
    memory = _attached.get(path)
    if memory is not None and not (memory.usable and memory.is_current()):
        del _attached[path]
        memory.close()
        memory = None
    if memory is None:
        memory = _attached[path] = SharedMemory(path, size)
    memory.users += 1
    return memory


def detach(memory: SharedMemory) -> None:
    """End the use of an `attach`; the last one closes the database."""
    if not memory.usable:
        return
    memory.users -= 1
    if not memory.users:
        del _attached[memory.path]
        memory.close()


def _disown() -> None:
    for memory in _attached.values():
        memory.usable = False


os.register_at_fork(after_in_child=_disown)
