"""The ledger's journal: where a worker writes what a request was, before any database sees it.

Each worker appends lines to a file of its own; `shipper.py` brings them into the database.
A row is with the kernel as soon as `append` is back, so that killing the worker loses nothing. A
power cut may lose what the kernel had not written yet: commonly the last 30 seconds.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

from engine.stores.ledger.entry import Entry, Row, encode
from engine.stores.ledger.segment import Segment, create
from engine.values.throttle import LogThrottle

_BLIND = 1.0
"""Seconds for which a file that could not be made is not asked for again."""

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class JournalError(Exception):
    """The journal cannot be kept where it is to be kept."""


class Journal:
    """Appends rows to a file in `folder`, and begins another after `max_bytes` or `max_age`
    seconds. Make it in the worker, after the fork.

    `lost` counts the rows that could not be written, `live` is the file that is written now and
    `rotated` are those before it that are still owned. `clock` gives Unix seconds.
    """

    def __init__(
        self,
        folder: Path,
        *,
        max_bytes: int = 8_000_000,
        max_age: float = 600.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Raises JournalError when the folder cannot be made, or not be written."""
        self.folder = folder
        self.lost = 0
        self.live: Segment | None = None
        self.rotated: list[Segment] = []
        self._max_bytes = self._limit = max_bytes
        self._max_age = max_age
        self._clock = clock
        self._blind_until = -1e300
        self._complaint = LogThrottle()
        _prepare(folder)

    def append(self, entry: Entry | Row) -> None:
        """Write a row. Never waits and never raises: what cannot be written is counted as lost."""
        line = encode(entry)
        try:
            segment = self.live
            if segment is None or segment.size >= self._limit:
                segment = self._roll(self._clock())
            written = os.write(segment.fd, line)
            if written != len(line):
                self._undo(segment)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self.lost += 1
            self._complaint.say(
                "the ledger loses rows, requests go on: cannot write to %s: %s",
                self.folder,
                error.strerror,
            )
            return
        segment.size += written
        segment.rows += 1
        if segment.waiting is None:
            segment.waiting = self._clock()

    def rotate(self, now: float | None = None) -> None:
        """Begin another file with the next row: if `now`, only when this one is old enough."""
        live = self.live
        if live is None or (now is not None and now - live.begun < self._max_age):
            return
        self.rotated.append(live)
        self.live = None

    def release(self) -> None:
        """Give back all files that are rotated, for anybody to claim. Raises OSError."""
        while self.rotated:
            self.rotated.pop().close()

    def close(self) -> None:
        """Give back every file. A row that comes later begins another. Raises OSError."""
        self.rotate()
        self.release()

    def _roll(self, now: float) -> Segment:
        """The next file; or the one there is, where another cannot be made."""
        if self.live is None and now < self._blind_until:
            raise OSError(errno.EIO, "no file can be made there")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            made = create(self.folder, now)
        except OSError:
            self._blind_until = now + _BLIND
            if self.live is None:
                raise
            self._limit = self.live.size + self._max_bytes
            return self.live
        self.rotate()
        self.live = made
        self._limit = self._max_bytes
        return made

    def _undo(self, segment: Segment) -> None:
        """Take back half a line; where that fails, leave the file to those who skip such lines."""
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
            return  # requests go on, as they do when the disk is full later
        raise JournalError(
            f"the ledger's journal cannot be kept in {folder} ({error.strerror}): let this user "
            "write there, or name another folder as `stores.journal`"
        ) from error
