"""Files of numbers that processes map, and the locks of files."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from engine.values.file_room import reserve
from engine.values.machine_state import WIDTH

CHUNK = 4096
"""The numbers of one file, 8 bytes each."""

PLACES = CHUNK // WIDTH
"""The places of one file. The numbers of each are side by side: a processor reads them at once."""

View = Any
"""A memoryview of integers or of floats, whose type has no item type before Python 3.14."""


class MappedNumbers:
    """A file of `CHUNK` numbers, mapped: integers ("q") or floats ("d"); with `bytes_too` there is
    a byte for each place behind them, as `bytes`. With `lock`, this mapping owns the file until it
    is closed; BlockingIOError if another one does.

    Room is reserved before a file is mapped, because writing to a page for which the file system
    has no room ends the process: OSError if there is none.
    """

    def __init__(
        self,
        path: Path,
        form: Literal["q", "d"],
        *,
        bytes_too: bool = False,
        lock: bool = False,
    ) -> None:
        size = CHUNK * 8 + (PLACES if bytes_too else 0)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if lock:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(fd).st_size != size:
                reserve(fd, 0, size)
            self._map = mmap.mmap(fd, size)  # which has a descriptor of its own, and the lock
        finally:
            os.close(fd)
        self._size = size
        self._whole = memoryview(self._map)
        self._numbers = self._whole[: CHUNK * 8]
        self.view: View = self._numbers.cast(form)
        self.bytes: View = self._whole[CHUNK * 8 :]

    def clear(self) -> None:
        """Set everything to 0."""
        self._map[:] = bytes(self._size)

    def close(self) -> None:
        """Unmap it, and release its lock."""
        for view in (self.view, self.bytes, self._numbers, self._whole):
            view.release()
        self._map.close()


@contextlib.contextmanager
def locked(path: Path) -> Iterator[int]:
    """Hold the lock of a file; its descriptor is given."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield fd
    finally:
        os.close(fd)
