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
import fcntl
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from engine.process.log_throttle import LogThrottle
from engine.process.periodic import PeriodicTask
from engine.stores.ledger_entry import Entry, decode, encode

SUFFIX = ".rows"
_SUFFIXES = (".journal", SUFFIX)
"""Older versions wrote objects to `.journal`. They ignore `.rows`, whose arrays they cannot
read."""
INTERVAL = 0.25
"""Seconds between two looks at whether the live file can be released."""
_CHUNK = 256 * 1024
_CREATE_RETRY = 1.0
"""Seconds after a file could not be created until the next attempt."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class JournalError(Exception):
    """The journal cannot be written in its folder."""


class JournalBatch(Struct, frozen=True):
    """The entries in a part of a segment that ends at the offset `end`; `torn` of its `lines` were
    not entries."""

    entries: list[Entry]
    lines: int
    torn: int
    end: int


class Segment:
    """A file that this process owns, created at `created` (Unix seconds).

    In bytes, `size` is its length and `offset` the length that is in the database. `rows` counts
    the lines that this process wrote to it.
    """

    __slots__ = ("created", "fd", "offset", "path", "rows", "size")

    def __init__(self, path: Path, fd: int, created: float, size: int = 0) -> None:
        self.path = path
        self.fd = fd
        self.created = created
        self.size = size
        self.rows = 0
        self.offset = 0

    def read(self, limit: int) -> JournalBatch:
        """Read at most `limit` lines from `offset` on. No process writes to the file, so that a
        last line without a line end is complete. Raises OSError."""
        data = os.pread(self.fd, _CHUNK, self.offset)
        lines = data.split(b"\n")
        tail = lines.pop()
        length = len(data) - len(tail)
        if tail and (len(tail) == _CHUNK or len(data) < _CHUNK):
            lines.append(tail)
            length = len(data) + 1  # with the line end that is missing
        if len(lines) > limit:
            lines = lines[:limit]
            length = sum(map(len, lines)) + limit
        entries = [entry for line in lines if (entry := decode(line)) is not None]
        end = min(self.offset + length, self.offset + len(data))
        return JournalBatch(entries, len(lines), len(lines) - len(entries), end)

    def discard(self) -> None:
        """Delete and close the file, after all of it is shipped."""
        self.path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Release the file, so that any shipper can claim it."""
        os.close(self.fd)
        self.fd = -1


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


def create(folder: Path, now: float) -> Segment:
    """A new file, owned by this process. Raises OSError."""
    while True:
        path = folder / f"{os.getpid()}-{int(now)}-{secrets.token_hex(8)}{SUFFIX}"
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        # A shipper may have claimed the empty file before this lock.
        if _lock_or_close(fd):
            return Segment(path, fd, now)


def claim(path: Path) -> Segment | None:
    """Lock a file of the journal; None if another process owns it. Raises OSError."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    if not _lock_or_close(fd):
        return None
    status = os.fstat(fd)
    return Segment(path, fd, creation_time(path) or status.st_mtime, size=status.st_size)


def files(folder: Path) -> list[Path]:
    """All files of the journal in a folder, of any owner; none if the folder does not exist."""
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in _SUFFIXES)
    except (FileNotFoundError, NotADirectoryError):
        return []


def lock(fd: int) -> bool:
    """Take the lock of a file until it is closed. False if another process holds it. Raises
    OSError.
    """
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lock_or_close(fd: int) -> bool:
    """Lock a file that was not deleted. If that fails, close it and return False."""
    locked = False
    try:
        locked = lock(fd) and os.fstat(fd).st_nlink > 0
    finally:
        if not locked:
            os.close(fd)
    return locked


def creation_time(path: Path) -> float | None:
    """When a file was created, by its name (Unix seconds); None for another name."""
    parts = path.name.split("-")
    return float(parts[1]) if len(parts) == 3 and parts[1].isdigit() else None
