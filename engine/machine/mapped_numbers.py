"""Files of numbers that processes map, and room for such files.

A write to a mapped page for which the file system has no room ends the process (SIGBUS). So room is
reserved before a page is written.
"""

from __future__ import annotations

import errno
import mmap
import os
from pathlib import Path
from typing import Any, Literal

from engine.machine.worker_locks import open_file
from engine.values.machine_state import WIDTH

CHUNK = 4096
"""The numbers of one file, 8 bytes each."""

PLACES = CHUNK // WIDTH
"""The places of one file. The numbers of each are side by side: a processor reads them at once."""

View = Any
"""A memoryview of integers or of floats, whose type has no item type before Python 3.14."""
_NOT_SUPPORTED = (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)
_BLOCK = 1 << 16


class MappedNumbers:
    """A file of `CHUNK` numbers, mapped: integers ("q") or floats ("d"); with `bytes_too` there is
    a byte for each place behind them, as `bytes`. `fd` is the descriptor of a file that is open
    already, as of one that is locked: the mapping takes it over, and its lock ends with it.

    Room is reserved before a file is mapped, because writing to a page for which the file system
    has no room ends the process: OSError if there is none.
    """

    def __init__(
        self,
        path: Path,
        form: Literal["q", "d"],
        *,
        bytes_too: bool = False,
        fd: int | None = None,
    ) -> None:
        size = CHUNK * 8 + (PLACES if bytes_too else 0)
        fd = open_file(path) if fd is None else fd
        try:
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


def reserve(fd: int, start: int, end: int) -> None:
    """Reserve the bytes of a file from `start` to `end`, which becomes at least that long; what it
    holds stays. OSError without room: then the file keeps its size.

    Where the file system or the C library cannot reserve, zeros are written behind its end.
    """
    size = os.fstat(fd).st_size
    try:
        if not _allocate(fd, start, end):
            at = size
            while at < end:
                at += os.pwrite(fd, bytes(min(_BLOCK, end - at)), at)
    except OSError:
        os.ftruncate(fd, size)  # a part of it may have been reserved
        raise


def _allocate(fd: int, start: int, end: int) -> bool:
    """Reserve bytes without writing them; False if that is not supported."""
    if not hasattr(os, "posix_fallocate"):
        return False
    try:
        os.posix_fallocate(fd, start, end - start)
    except OSError as error:
        if error.errno in _NOT_SUPPORTED:
            return False
        raise
    return True
