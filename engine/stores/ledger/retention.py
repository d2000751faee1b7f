"""Retention: one process deletes old rows of the ledger once an hour."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import gevent

from engine.stores.ledger.journal import lock
from engine.stores.ledger.writer import LedgerWriter

_HOUR = 3600.0
_CHECK_INTERVAL = 60.0
_BATCH = 1000
_PAUSE = 0.05
"""Seconds between two batches."""


class Retention:
    """Deletes rows that are older than `seconds`; the processes that share `folder` take turns."""

    def __init__(self, folder: Path, writer: LedgerWriter, seconds: float) -> None:
        self._lock_file = folder / "retention.lock"
        self._writer = writer
        self._seconds = seconds
        self._next_check = -1e300

    def run(self, now: float, between_batches: Callable[[], None]) -> None:
        """Delete the rows that are too old at `now` (Unix seconds), if the hourly run is due;
        `between_batches` is called after each batch. Raises DatabaseError and OSError."""
        if now < self._next_check <= now + _CHECK_INTERVAL:  # beyond: the clock was set back
            return
        self._next_check = now + _CHECK_INTERVAL
        with hourly(self._lock_file, now) as due:
            while due and self._delete(now - self._seconds) == _BATCH:
                between_batches()
                gevent.sleep(_PAUSE)

    def _delete(self, before: float) -> int:
        table = self._writer.table
        return self._writer.query(lambda: table.delete_before(before, _BATCH))


@contextmanager
def hourly(lock_file: Path, now: float) -> Iterator[bool]:
    """Whether this process is to run an hourly task now. The run is recorded if the block ends
    without an exception.

    The process that holds the file's lock runs the task; the file's mtime is the time of the last
    run. Raises OSError.
    """
    fd = os.open(lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not lock(fd):
            yield False
            return
        status = os.fstat(fd)
        due = status.st_size == 0 or not 0 <= now - status.st_mtime < _HOUR
        yield due
        if due:
            os.pwrite(fd, b".", 0)
            os.utime(fd, (now, now))
    finally:
        os.close(fd)
