"""An LMDB database in shared memory, open in all workers of one machine.

LMDB copies pages before it changes them, and its lock is released when its holder dies: a worker
killed within a transaction changes nothing and blocks no worker. (A worker that is stopped within
the few microseconds of a transaction, by a debugger or SIGSTOP, does block the others.) Memory is
reserved before pages are written, because writing a page for which the file system has no room ends
the process with SIGBUS.

A worker has a number that is never given twice. It is alive as long as it holds the lock on the
byte of that number in the file `workers`; the system releases the lock however the process ends.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Any

import lmdb

from engine.values.runtime_dir import prepare

Transaction = Any
"""lmdb.Transaction. Its stubs declare that values may be buffers, which happens only on request."""

WORKER_NUMBER = b"\xff" * 8 + b"workers"
"""The key of the number that was last given to a worker."""
_RESERVE_STEP = 1 << 20
_RESERVE_AHEAD = 1 << 20


class SharedMemory:
    """The database at `path`, opened by this process; `size` is its upper bound in bytes.

    `file` identifies the database, also after it was removed and another was made at the same path.
    `worker` is this process's number, `usable` False once it is closed and in child processes.
    OSError when there is no room.
    """

    def __init__(self, path: Path, size: int) -> None:
        prepare(path)
        self.path, self.size = path, size
        self.users = 0
        self.usable = True
        self._reserved = 0
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
            raise OSError(f"{path}: no room for {_RESERVE_STEP} bytes of counters; make some")
        self.worker = self._new_worker_number()

    def begin(self) -> Transaction:
        """A write transaction. It waits while another worker has one, commonly microseconds."""
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
        if (
            used_bytes > self.size * 3 // 4
        ):  # copies need pages, and freed ones are reusable only later
            return False
        end = min(self.written_size() + _RESERVE_AHEAD, self.size)
        return end <= self._reserved or self._reserve(min(end + _RESERVE_STEP, self.size))

    def written_size(self) -> int:
        """Bytes of the file that have been written to."""
        last_page: int = self._env.info()["last_pgno"]
        return (last_page + 1) * self._page_size

    def is_current(self) -> bool:
        """Whether this database is the one that other processes find at the path."""
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
        if hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(self._data, self._reserved, end - self._reserved)
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


_attached: dict[Path, SharedMemory] = {}


def attach(path: Path, size: int) -> SharedMemory:
    """The database at a path. A process opens it once for all users; a child process opens it
    again, and so does a process whose database was removed. OSError, lmdb.Error."""
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
    """End one use by `attach`; the last one closes the database."""
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
