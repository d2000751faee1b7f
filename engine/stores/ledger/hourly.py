"""Doing something once an hour, by one process of a machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.stores.ledger.segment import lock

_HOUR = 3600.0


@contextmanager
def hourly(file: Path, now: float) -> Iterator[bool]:
    """Whether it is ours to do now; it is done when the block ends without an exception.

    The file's lock says who does it, its time when it was done last. Raises OSError.
    """
    fd = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not lock(fd):
            yield False
            return
        found = os.fstat(fd)
        due = found.st_size == 0 or not 0 <= now - found.st_mtime < _HOUR
        yield due
        if due:
            os.pwrite(fd, b".", 0)
            os.utime(fd, (now, now))
    finally:
        os.close(fd)
