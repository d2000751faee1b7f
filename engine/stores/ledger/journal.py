"""The ledger's journal: files to which a worker appends entries before any database sees them.

A file contains lines of JSON. The process that holds its lock (flock) owns it. The kernel releases
the lock when the owner dies. When `append` returns, the kernel has the entry, so that killing the
worker loses nothing. A power cut loses what the kernel has not written to the disk, usually the
last 30 seconds.

Theory of operation. A file moves through these states; `shipper.py` does the last:

    live       its worker appends to it
    unowned    nobody holds its lock: the worker released it or died. It is released when the file
               released before it has been shipped, so that rows wait a moment only, and a database
               that is away gets few files; also at `max_bytes`, after `max_age`, and at the end
    claimed    a shipper took the lock: it ships all of it and deletes it

Invariants:

- Who does not hold the lock neither writes, ships nor deletes. A lock on a file that was deleted
  meanwhile counts as none.
- A file is deleted when each of its entries is in the database, or in `refused.jsonl`.
- A file has whole lines: an entry is one write, and what a full disk took of it is cut off again.
  If even that fails, a new file begins. A torn last line is skipped and counted.
- How far a file is shipped is known in memory only. Who claims it begins at its start, or where
  this process left it: entries that the database has already are not counted again, by their ids.
- An entry that cannot be written is lost and counted; the request is answered.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from engine.process.log_throttle import LogThrottle
from engine.process.periodic import PeriodicTask
from engine.stores.ledger.journal_segments import Segment, create
from engine.stores.ledger_entry import Entry, encode

INTERVAL = 0.25
"""Seconds between two looks at whether the live file can be released."""
_CREATE_RETRY = 1.0
"""Seconds after a file could not be created until the next attempt."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class JournalError(Exception):
    """The journal cannot be written in its folder."""


class Lag(Struct, frozen=True):
    """A backlog: the number of `rows` that are not in the database, and the age of the oldest one
    in seconds."""

    rows: int
    seconds: float


class Journal:
    """Appends entries to a file in `folder`, and releases the file, so that it is shipped: when the
    last released one has been, after `max_bytes`, or after `max_age` seconds. Construct it in the
    worker, after the fork.

    `lost_rows` counts entries that could not be written, `live` is the file being written. `clock`
    gives Unix seconds.
    """

    def __init__(
        self,
        folder: Path,
        *,
        max_bytes: int = 8_000_000,
        max_age: float = 600.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Raises JournalError if the folder cannot be made or written to."""
        self.folder = folder
        self.lost_rows = 0
        self.live: Segment | None = None
        self._last_released: Path | None = None
        self._max_bytes = self._limit = max_bytes
        self._max_age = max_age
        self._clock = clock
        self._next_create = -1e300
        self._throttle = LogThrottle()
        self._background = PeriodicTask(self._turn, INTERVAL)
        _prepare(folder)

    def append(self, entry: Entry) -> None:
        """Write an entry. Never waits and never raises: an entry that cannot be written is counted
        in `lost_rows`."""
        line = encode(entry)
        try:
            segment = self.live
            if segment is None or segment.size >= self._limit:
                segment = self._next_segment(self._clock())
            count = os.write(segment.fd, line)
            if count != len(line):
                self._truncate(segment)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self.lost_rows += 1
            self._throttle.log(
                "the ledger loses rows, requests go on: cannot write to %s: %s",
                self.folder,
                error.strerror,
            )
            return
        segment.size += count
        segment.rows += 1

    def start(self) -> None:
        """Turn the file over in the background. Call it in the worker, after the fork."""
        self._background.start()

    def turn(self) -> None:
        """Release the live file if the last released one has been shipped, or if this one is older
        than `max_age`, or than the clock, which was set back. Raises OSError."""
        live, last = self.live, self._last_released
        if live is None:
            return
        is_recent = 0 <= self._clock() - live.created < self._max_age
        if not is_recent or last is None or not last.exists():
            self.release()

    def release(self) -> None:
        """Release the live file; the next `append` begins a new one. Raises OSError."""
        if self.live is not None:
            live, self.live = self.live, None
            self._last_released = live.path
            live.close()

    def close(self) -> None:
        """End the background task and release the file. Raises OSError."""
        self._background.stop(0)
        self.release()

    def lag(self) -> Lag:
        """The entries in the live file, and the age of the first one, with which it began."""
        live = self.live
        return Lag(live.rows, max(0.0, self._clock() - live.created)) if live else Lag(0, 0.0)

    def _turn(self, wait: float) -> float:
        self.turn()
        return INTERVAL

    def _next_segment(self, now: float) -> Segment:
        """A new file; the current one if none can be created. Raises OSError without either."""
        if self.live is None and now < self._next_create <= now + _CREATE_RETRY:
            raise OSError(errno.EIO, "no file can be created there")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            segment = create(self.folder, now)
        except OSError:
            self._next_create = now + _CREATE_RETRY
            if self.live is None:
                raise
            self._limit = self.live.size + self._max_bytes
            return self.live
        self.release()
        self.live = segment
        self._limit = self._max_bytes
        return segment

    def _truncate(self, segment: Segment) -> None:
        """Remove an incomplete line. If that fails, begin a new file: readers skip such a line at
        the end."""
        try:
            os.ftruncate(segment.fd, segment.size)
        except OSError:
            self.release()
            raise


def _prepare(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        create(folder, 0).discard()
    except OSError as error:
        if error.errno in _FULL:
            return  # a full disk stops no requests, neither at the start nor later
        raise JournalError(
            f"the ledger's journal cannot be kept in {folder} ({error.strerror}): let this user "
            "write there, or name another folder as `stores.journal`"
        ) from error
