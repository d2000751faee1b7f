"""A small database in shared memory that all workers of one machine have open: LMDB in a folder.

Its transactions copy what they change and its lock outlives whoever held it, so a worker killed in
the middle of one changes nothing and stops nobody. Memory is reserved before pages are written,
because a page that the file system has no room for would end the process. (A worker that is only
stopped, by a debugger or SIGSTOP, within the few microseconds of a transaction does stop the rest.)

A worker is known by a number that is never given twice, and alive as long as it holds the lock on
that byte of the file `workers`; the system lets go of it however the process ends.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Any

import lmdb

from engine.values.runtime_dir import prepare

Transaction = Any
"""lmdb.Transaction; its stubs allow for buffers, which we do not ask for."""

NUMBERS = b"\xff" * 8 + b"workers"
_STEP = 1 << 20
_AHEAD = 1 << 20


class Shared:
    """The database as one process has it open. `size` bounds it, in bytes; `file` tells it from
    another at the same path. It is `usable` until it is closed, and never by a child of that
    process."""

    def __init__(self, path: Path, size: int) -> None:
        prepare(path)
        self.path, self.size = path, size
        self.users = 0
        self.usable = True
        self._reserved = 0
        self._env = lmdb.open(
            str(path), map_size=size, sync=False, writemap=True, map_async=True, mode=0o600
        )
        self._data = os.open(path / "data.mdb", os.O_RDWR | os.O_CLOEXEC)
        found = os.fstat(self._data)
        self.file = found.st_dev, found.st_ino
        self._locks = os.open(path / "workers", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not self._reserve(min(_STEP, size)):
            self.close()
            raise OSError(f"{path}: no room for {_STEP} bytes of counters; make some")
        self.worker = self._number()

    def begin(self) -> Transaction:
        """A transaction, once no other worker has one open: a matter of microseconds."""
        return self._env.begin(write=True)

    def alive(self, worker: int) -> bool:
        """Whether a worker's process is there. Only within a transaction."""
        if worker == self.worker:
            return True
        try:
            fcntl.lockf(self._locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, worker)
        except (BlockingIOError, PermissionError):  # POSIX leaves it open which of the two
            return True
        fcntl.lockf(self._locks, fcntl.LOCK_UN, 1, worker)
        return False

    def has_room(self, txn: Transaction) -> bool:
        """Whether one more record fits: to be asked before it is made."""
        now = txn.stat()
        used = (now["leaf_pages"] + now["branch_pages"]) * now["psize"]
        if used > self.size * 3 // 4:  # copying needs some, and what was freed comes back late
            return False
        end = min(self._env.info()["last_pgno"] * now["psize"] + _AHEAD, self.size)
        return end <= self._reserved or self._reserve(min(end + _STEP, self.size))

    def is_there(self) -> bool:
        """Whether this is still what others find at the path."""
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
            except OSError:  # ENOSPC, or the time was up: no room, and the caller says so
                return False
        self._reserved = end
        return True

    def _number(self) -> int:
        with self._env.begin(write=True) as txn:
            number = int.from_bytes(txn.get(NUMBERS, b""), "big") + 1
            fcntl.lockf(self._locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
            txn.put(NUMBERS, number.to_bytes(8, "big"))
        return number


_open: dict[Path, Shared] = {}


def attach(path: Path, size: int) -> Shared:
    """The database at a path, opened once in a process however many ask for it, never carried from
    a process into its children, and opened anew where it was removed. OSError, lmdb.Error."""
    shared = _open.get(path)
    if shared is not None and not (shared.usable and shared.is_there()):
        del _open[path]
        shared.close()
        shared = None
    if shared is None:
        shared = _open[path] = Shared(path, size)
    shared.users += 1
    return shared


def detach(shared: Shared) -> None:
    """The other half of `attach`."""
    if not shared.usable:
        return
    shared.users -= 1
    if not shared.users:
        del _open[shared.path]
        shared.close()


def _disown() -> None:
    for shared in _open.values():
        shared.usable = False


os.register_at_fork(after_in_child=_disown)
