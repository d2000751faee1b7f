"""Writes entries to the ledger's table from a worker, without blocking its requests; and deletes
old rows, once an hour and in one process."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import gevent
import orjson

from engine.stores.database.failures import DatabaseAway, RowsRefused
from engine.stores.database.usage import UsageTable
from engine.stores.ledger.journal_segments import lock
from engine.stores.ledger_entry import Entry, repaired

log = logging.getLogger("modelway")

T = TypeVar("T")


class LedgerWriter:
    """Writes to `table`. A query that blocks its thread runs in gevent's thread pool; others have a
    timeout of `timeout` seconds.

    `refusals` counts entries that the database rejected; they are appended to `refused_file` as
    lines of JSON.
    """

    def __init__(self, table: UsageTable, refused_file: Path, timeout: float) -> None:
        self.table = table
        self.refusals = 0
        self._refused_file = refused_file
        self._timeout = timeout

    def write(self, entries: Sequence[Entry]) -> int:
        """Write entries; append those that the database rejects to `refused_file`. Returns the
        number of new rows. Raises DatabaseError and OSError.
        """
        try:
            return self.query(lambda: self.table.insert(entries))
        except RowsRefused:
            return self._write_parts([repaired(entry) for entry in entries])

    def query(self, query: Callable[[], T]) -> T:
        """The result of a query. Raises DatabaseError, also when it times out."""
        if self.table.blocks:
            return in_thread(query)
        timer = gevent.Timeout.start_new(self._timeout)
        try:
            return query()
        except gevent.Timeout as timeout:
            if timeout is not timer:
                raise
            database = self.table.database.display_url
            raise DatabaseAway(f"{database} does not answer in {self._timeout:g} s") from timeout
        finally:
            timer.close()

    def _write_parts(self, entries: Sequence[Entry]) -> int:
        """Find the rejected entries by bisection, and write all others."""
        try:
            return self.query(lambda: self.table.insert(entries))
        except RowsRefused as error:
            if len(entries) == 1:
                self._refuse(entries[0], error)
                return 0
            half = len(entries) // 2
            return self._write_parts(entries[:half]) + self._write_parts(entries[half:])

    def _refuse(self, entry: Entry, error: RowsRefused) -> None:
        with self._refused_file.open("ab") as file:
            file.write(orjson.dumps(entry._asdict(), option=orjson.OPT_APPEND_NEWLINE))
        self.refusals += 1
        log.error("%s (%s): it is kept in %s", error, error.__cause__, self._refused_file)


def in_thread(function: Callable[[], T]) -> T:
    """Run a blocking function in gevent's thread pool. Returns its result or raises its
    exception."""
    results: list[T] = []

    def run() -> Exception | None:
        try:
            results.append(function())
        except Exception as error:  # noqa: BLE001 - raised below: gevent would print it as well
            return error
        return None

    error: Exception | None = gevent.get_hub().threadpool.apply(run)
    if error is not None:
        raise error
    return results[0]


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
