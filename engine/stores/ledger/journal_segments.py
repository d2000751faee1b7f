"""The files of journals: who holds them, and what is read from them and deleted."""

from __future__ import annotations

import fcntl
import os
import secrets
from pathlib import Path

from msgspec import Struct

from engine.stores.ledger_entry import Entry, decode

SUFFIX = ".rows"
_SUFFIXES = (".journal", SUFFIX)
"""Older versions wrote objects to `.journal`. They ignore `.rows`, whose arrays they cannot
read."""
_CHUNK = 256 * 1024


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
