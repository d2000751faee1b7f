"""Ships the journal's entries to the database, in a background greenlet.

After a failure the same entries are written again; by their ids each is counted once. So nothing is
lost or counted twice if the database goes away, even if only its answer was lost.

Theory of operation. A round ships the rotated files, oldest first, then the live one up to where it
ended when the round came to it; so a worker under load cannot keep a round from ending. Every
`scan` seconds it ships files without an owner, in random order, since all workers of a machine do
the same, and computes the sums of old rows; both stop after `interval` seconds and go on in the
next round. Then rows older than `retention` are deleted.

    working    rounds follow one another every `interval` seconds
    waiting    a round failed: the wait doubles, up to `longest_wait`; all rotated files are
               released, so that no file is open for as long as the database is away

Invariants: the offset of a file moves behind a batch only when the database has the batch; the
states of files, and who may touch them, are those of `journal.py`.
"""

from __future__ import annotations

import logging
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import gevent

from engine.process.log_throttle import LogThrottle
from engine.process.periodic import PeriodicTask
from engine.stores.database.failures import DatabaseError
from engine.stores.database.usage import UsageTable
from engine.stores.ledger.journal import Journal, Segment, claim, files
from engine.stores.ledger.retention import Retention
from engine.stores.ledger.writer import LedgerWriter, in_thread

log = logging.getLogger("modelway")

_LINE = 200
"""The average length of a line in bytes, for estimates before the first line is written."""


@dataclass(frozen=True, slots=True)
class Lag:
    """The backlog: the number of `rows` that are not in the database (estimated for files without
    an owner), and the age of the oldest one in seconds."""

    rows: int
    seconds: float


class Shipper:
    """Ships this worker's journal, and the files that dead workers left.

    With `table` None there is no database, and the files stay. `batch` is the rows of one insert.
    In seconds: `timeout` of one insert, `interval` between rounds, `longest_wait` between rounds
    while the database is away, `scan` between searches for files without an owner, `retention` the
    age at which rows are deleted (None: never).

    `shipped` counts rows, `torn` lines that were not entries (after a power cut, or when a worker
    was killed within a write).
    """

    def __init__(
        self,
        journal: Journal,
        table: UsageTable | None,
        *,
        batch: int = 512,
        interval: float = 0.5,
        longest_wait: float = 30.0,
        scan: float = 10.0,
        timeout: float = 15.0,
        retention: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.journal = journal
        self.shipped = 0
        self.torn = 0
        self._writer: LedgerWriter | None = None
        self._retention: Retention | None = None
        if table is not None:
            self._writer = LedgerWriter(table, journal.folder / "refused.jsonl", timeout)
            if retention is not None:
                self._retention = Retention(journal.folder, self._writer, retention)
        self._batch = batch
        self._interval = interval
        self._longest_wait = longest_wait
        self._scan = scan
        self._clock = clock
        self._next_scan = -1e300
        self._offsets: dict[str, int] = {}
        self._unowned: list[tuple[float, int]] = []
        self._background = PeriodicTask(self.attempt, interval)
        self._throttle = LogThrottle()

    @property
    def refusals(self) -> int:
        """The number of rows that the database rejected; they are in `refused.jsonl`."""
        return 0 if self._writer is None else self._writer.refusals

    def lag(self) -> Lag:
        """The backlog of this worker now, and of files without an owner at the last search."""
        now = self._clock()
        segments = [*self.journal.rotated, *filter(None, [self.journal.live])]
        rows, size = sum(s.rows for s in segments), sum(s.size for s in segments)
        line = size / rows if rows else _LINE
        unowned = sum(size for _, size in self._unowned) / line
        waiting = rows - sum(s.shipped_rows for s in segments) + unowned
        since = [s.waiting_since for s in segments if s.waiting_since is not None]
        since += [created for created, _ in self._unowned]
        return Lag(round(waiting), max(0.0, now - min(since, default=now)))

    def start(self) -> None:
        """Start shipping in the background. Call it in the worker, after the fork."""
        self._background.start()

    def close(self, timeout: float = 3.0) -> None:
        """Stop the background greenlet and ship the rest, each within `timeout` seconds. Entries
        that are not shipped by then stay in the journal."""
        self._background.stop(timeout)
        self.journal.rotate()
        with gevent.Timeout(timeout, False):  # type: ignore[arg-type]  # its stubs do not know
            self._attempt(self._ship_own_files, 0.0)
        self.journal.close()

    def round(self) -> None:
        """Ship all entries. Raises DatabaseError and OSError; the next round then continues."""
        now = self._clock()
        self.journal.rotate(now)
        if self._writer is None:
            self._release_rotated()
            return
        self._ship_own_files()
        if not now < self._next_scan <= now + self._scan:  # beyond: the clock was set back
            self._next_scan = now + self._scan
            self._ship_unowned_files(now)
            self._fill(now)
        if self._retention is not None:
            self._retention.run(now, self._ship_own_files)

    def attempt(self, waited: float) -> float:
        """Run a round and log its failure. `waited` is the wait before it in seconds. Returns the
        wait until the next one: `interval`, or twice `waited` after a failure."""
        return self._attempt(self.round, waited)

    def _attempt(self, work: Callable[[], None], waited: float) -> float:
        try:
            try:
                work()
                return self._interval
            finally:
                self._release_rotated()
        except (DatabaseError, OSError) as error:
            self._throttle.log("the ledger's rows wait in %s: %s", self.journal.folder, error)
        except Exception:
            log.exception("shipping the ledger's rows failed; they wait in %s", self.journal.folder)
        self._measure_unowned_files()
        return min(max(waited, self._interval) * 2, self._longest_wait)

    def _ship_own_files(self) -> None:
        while self.journal.rotated:
            segment = self.journal.rotated[0]
            self._ship(segment, closed=True)
            self.journal.rotated.remove(segment)
            segment.discard()
        if self.journal.live is not None:
            self._ship(self.journal.live, closed=False)

    def _ship_unowned_files(self, start: float) -> None:
        """Ship files without an owner; after `interval` seconds the next round continues."""
        paths = files(self.journal.folder)
        self._offsets = {path.name: self._offsets.get(path.name, 0) for path in paths}
        self._unowned = []
        random.shuffle(paths)  # so that workers do not contend for the same file
        for path in paths:
            segment = self._claim(path)
            if segment is None:
                continue
            try:
                self._ship(segment, closed=True)
            except BaseException:
                self._offsets[path.name] = segment.offset
                segment.close()
                raise
            segment.discard()
            if self._clock() - start > self._interval:
                self._next_scan = start
                return

    def _fill(self, start: float) -> None:
        """Compute the sums of old rows; after `interval` seconds the next round continues."""
        assert self._writer is not None
        while self._writer.query(self._writer.table.fill):
            if self._clock() - start > self._interval:
                self._next_scan = start
                return

    def _ship(self, segment: Segment, closed: bool) -> None:
        """Ship a file up to its end; up to its present end while it is being written."""
        assert self._writer is not None
        size_at_start = segment.size
        while closed or segment.offset < size_at_start:
            now = self._clock()
            size = segment.size
            batch = segment.read(self._batch, closed)
            if batch.end == segment.offset:
                return
            if batch.entries:
                self._writer.write(batch.entries)
            segment.offset = batch.end
            segment.shipped_rows += batch.lines
            if batch.end >= size:
                segment.waiting_since = None if segment.size == size else now
            self.shipped += len(batch.entries)
            self.torn += batch.torn
            gevent.sleep(0)

    def _claim(self, path: Path) -> Segment | None:
        try:
            segment = claim(path)
        except OSError as error:
            self._throttle.log("a file of the ledger's journal cannot be read: %s", error)
            return None
        if segment is not None:
            segment.offset = self._offsets.get(path.name, 0)
        return segment

    def _release_rotated(self) -> None:
        """Release the rotated files that are not shipped, so that no file stays open for long."""
        while self.journal.rotated:
            segment = self.journal.rotated.pop()
            self._offsets[segment.path.name] = segment.offset
            try:
                # Not for every file: one that is shipped at once is deleted.
                in_thread(partial(os.fsync, segment.fd))
            finally:
                segment.close()

    def _measure_unowned_files(self) -> None:
        """Measure the backlog in files without an owner."""
        unowned = []
        for path in files(self.journal.folder):
            segment = self._claim(path)
            if segment is not None:
                unowned.append((segment.created, max(0, segment.size - segment.offset)))
                segment.close()
            gevent.sleep(0)
        self._unowned = [(created, size) for created, size in unowned if size]
