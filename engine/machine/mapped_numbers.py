"""Files of numbers that processes map."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Any, Literal

from engine.machine.file_room import reserve
from engine.machine.worker_locks import open_file
from engine.values.machine_state import WIDTH

CHUNK = 4096
"""The numbers of one file, 8 bytes each."""

PLACES = CHUNK // WIDTH
"""The places of one file. The numbers of each are side by side: a processor reads them at once."""

View = Any
"""A memoryview of integers or of floats, whose type has no item type before Python 3.14."""


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
