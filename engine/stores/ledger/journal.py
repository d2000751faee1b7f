"""The ledger's journal: files to which a worker appends entries before any database sees them.

A file contains lines of JSON. The process that holds its lock (flock) owns it, writes it and ships
it. The kernel releases the lock when the owner dies; any worker may then claim the file. When
`append` returns, the kernel has the entry, so that killing the worker loses nothing. A power cut
loses what the kernel has not written to the disk, usually the last 30 seconds.

Theory of operation. A file moves through these states; `shipper.py` does all but the first:

    live       its owner appends to it, and ships it up to its present end in each round
    rotated    it reached `max_bytes` or `max_age`: the owner ships the rest and deletes it
    unowned    nobody holds its lock: its owner died, stopped, or released it after a failed round
    claimed    another worker took the lock: it ships all of it and deletes it

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
from dataclasses import dataclass
from pathlib import Path

from engine.process.log_throttle import LogThrottle
from engine.stores.ledger_entry import Entry, decode, encode

SUFFIX = ".rows"
_SUFFIXES = (".journal", SUFFIX)
"""Older versions wrote objects to `.journal`. They ignore `.rows`, whose arrays they cannot
read."""
_CHUNK = 256 * 1024
_CREATE_RETRY = 1.0
"""Seconds after a file could not be created until the next attempt."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class JournalError(Exception):
    """The journal cannot be written in its folder."""


@dataclass(frozen=True, slots=True)
class JournalBatch:
    """The entries in a part of a segment that ends at the offset `end`; `torn` of its `lines` were
    not entries."""

    entries: list[Entry]
    lines: int
    torn: int
    end: int


class Segment:
    """A file that this process owns, created at `created` (Unix seconds).


    In bytes, `size` is its length and `offset` the length that is in the database. `rows` counts
    the lines that this process wrote to it, `shipped_rows` those that it shipped. `waiting_since`
    is when the oldest entry that is not shipped was written, in Unix seconds, or None.
    """

    __slots__ = ("created", "fd", "offset", "path", "rows", "shipped_rows", "size", "waiting_since")

    def __init__(self, path: Path, fd: int, created: float, size: int = 0) -> None:
        self.path = path
        self.fd = fd
        self.created = created
        self.size = size
        self.rows = 0
        self.shipped_rows = 0
        self.offset = 0
        self.waiting_since: float | None = None

    def read(self, limit: int, closed: bool) -> JournalBatch:
        """Read at most `limit` lines from `offset` on. `closed`: no process writes to the file, so
        that a last line without a line end is complete. Raises OSError."""
        data = os.pread(self.fd, _CHUNK, self.offset)
        lines = data.split(b"\n")
        tail = lines.pop()
        length = len(data) - len(tail)
        if tail and (len(tail) == _CHUNK or (closed and len(data) < _CHUNK)):
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
        """Release the file, so that any worker can claim it."""
        os.close(self.fd)
        self.fd = -1


class Journal:
    """Appends entries to a file in `folder`; a new file begins after `max_bytes` or `max_age`
    seconds. Construct it in the worker, after the fork.

    `lost_rows` counts entries that could not be written, `live` is the file being written,
    `rotated` are earlier files that this process still owns. `clock` gives Unix seconds.
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
        self.rotated: list[Segment] = []
        self._max_bytes = self._limit = max_bytes
        self._max_age = max_age
        self._clock = clock
        self._next_create = -1e300
        self._throttle = LogThrottle()
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
        if segment.waiting_since is None:
            segment.waiting_since = self._clock()

    def rotate(self, now: float | None = None) -> None:
        """Begin a new file with the next entry; with `now` only if this one is older than
        `max_age`, or than the clock, which was set back.
        """
        live = self.live
        if live is None or (now is not None and 0 <= now - live.created < self._max_age):
            return
        self.rotated.append(live)
        self.live = None

    def release(self) -> None:
        """Release all rotated files, so that any worker can claim them. Raises OSError."""
        while self.rotated:
            self.rotated.pop().close()

    def close(self) -> None:
        """Release every file. A later `append` begins a new one. Raises OSError."""
        self.rotate()
        self.release()

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
        self.rotate()
        self.live = segment
        self._limit = self._max_bytes
        return segment

    def _truncate(self, segment: Segment) -> None:
        """Remove an incomplete line. If that fails, begin a new file: readers skip such a line at
        the end."""
        try:
            os.ftruncate(segment.fd, segment.size)
        except OSError:
            self.rotate()
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
        # Another worker may have claimed the empty file before this lock.
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
    return Segment(path, fd, _created(path) or status.st_mtime, size=status.st_size)


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


def _created(path: Path) -> float | None:
    """The time of creation in a file's name."""
    parts = path.name.split("-")
    return float(parts[1]) if len(parts) == 3 and parts[1].isdigit() else None
