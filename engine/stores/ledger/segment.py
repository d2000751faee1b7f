"""One file of the journal: lines of JSON, written by one process, shipped by one at a time.

Whoever holds the file's lock (flock) owns it. The kernel gives the lock back when its owner dies,
however it dies, and then any living worker may claim the file.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.stores.ledger.entry import decode

SUFFIX = ".rows"
_SUFFIXES = (".journal", SUFFIX)
"""Older programs wrote objects into the first, and would take an array for a line that is torn:
they leave the second alone."""
_CHUNK = 256 * 1024


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows read from a segment; what follows them begins at `end`. `torn` lines were no rows."""

    rows: list[list[Any]]
    lines: int
    torn: int
    end: int


class Segment:
    """A file that this process owns.

    `size` is its length in bytes and `rows` how many lines were written to it here; what stands
    before `shipped` (bytes) is in the database, `entered` lines of it from here. `waiting` is when
    the oldest other row was written, in Unix seconds, or None.
    """

    __slots__ = ("begun", "entered", "fd", "path", "rows", "shipped", "size", "waiting")

    def __init__(self, path: Path, fd: int, begun: float, size: int = 0, shipped: int = 0) -> None:
        self.path = path
        self.fd = fd
        self.begun = begun
        self.size = size
        self.rows = 0
        self.entered = 0
        self.shipped = shipped
        self.waiting: float | None = None

    def read(self, limit: int, closed: bool) -> Batch:
        """At most `limit` lines after what is shipped. `closed`: nobody writes to it any more, so
        that a last line without an end is all there will be of it. Raises OSError."""
        data = os.pread(self.fd, _CHUNK, self.shipped)
        lines = data.split(b"\n")
        tail = lines.pop()
        whole = len(data) - len(tail)
        if tail and (len(tail) == _CHUNK or (closed and len(data) < _CHUNK)):
            lines.append(tail)
            whole = len(data) + 1  # the end that is missing is counted with the others below
        if len(lines) > limit:
            lines = lines[:limit]
            whole = sum(map(len, lines)) + limit
        rows = [row for line in lines if (row := decode(line)) is not None]
        end = min(self.shipped + whole, self.shipped + len(data))
        return Batch(rows, len(lines), len(lines) - len(rows), end)

    def discard(self) -> None:
        """Take the file away and close it; all of it is shipped."""
        self.path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Give the file back, for anybody to claim."""
        os.close(self.fd)
        self.fd = -1


def create(folder: Path, now: float) -> Segment:
    """A new file, owned by this process. Raises OSError."""
    while True:
        path = folder / f"{os.getpid()}-{int(now)}-{secrets.token_hex(8)}{SUFFIX}"
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        # Somebody may have claimed it, empty as it was, between these two steps.
        if _owned(fd):
            return Segment(path, fd, now)


def claim(path: Path) -> Segment | None:
    """The file, if nobody owns it. Raises OSError when it cannot be opened."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    if not _owned(fd):
        return None
    found = os.fstat(fd)
    return Segment(path, fd, _begun(path) or found.st_mtime, size=found.st_size)


def files(folder: Path) -> Iterator[Path]:
    """All files of the journal in a folder, whoever owns them; none where there is no folder."""
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix in _SUFFIXES)
    except (FileNotFoundError, NotADirectoryError):
        return
    yield from found


def _begun(path: Path) -> float | None:
    """When a file was begun, as its name tells."""
    parts = path.name.split("-")
    return float(parts[1]) if len(parts) == 3 and parts[1].isdigit() else None


def _owned(fd: int) -> bool:
    """Whether a file could be locked while it was still there; it is closed otherwise."""
    ours = False
    try:
        ours = lock(fd) and os.fstat(fd).st_nlink > 0
    finally:
        if not ours:
            os.close(fd)
    return ours


def lock(fd: int) -> bool:
    """Whether this process owns the file from now on, until it closes it. Raises OSError."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
