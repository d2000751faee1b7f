"""Ships the journal's files to the database, in a background greenlet.

After a failure the same entries are written again; by their ids each is counted once. So nothing is
lost or counted twice if the database goes away, even if only its answer was lost.

Theory of operation. A round ships all files that nobody owns, the newest first, so that the rows of
this moment do not wait for those of an outage. Every `fill_interval` seconds it computes the sums
of old rows. Both stop after `interval` seconds and go on in the next round. Then rows older than
`retention` are deleted. Shippers of several gateways may share a folder: the locks of the files
give each file to one of them.

    working    rounds follow one another every `interval` seconds
    waiting    a round failed: the wait doubles, up to `longest_wait`

Invariants: the offset of a file moves behind a batch only when the database has the batch; the
states of files, and who may touch them, are those of `journal.py`.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import gevent

from engine.process.log_throttle import LogThrottle
from engine.process.periodic import PeriodicTask
from engine.stores.database.failures import DatabaseError
from engine.stores.database.usage import UsageTable
from engine.stores.ledger.journal import Lag
from engine.stores.ledger.journal_segments import Segment, claim, creation_time, files
from engine.stores.ledger.writer import LedgerWriter, Retention, in_thread

log = logging.getLogger("modelway")

_LINE = 200
"""The average length of a line in bytes, for estimates before the first line is read."""


class Shipper:
    """Ships the files that workers have released, and those that dead workers left in `folder`.

    `batch` is the rows of one insert. In seconds: `timeout` of one insert, `interval` between
    rounds, `longest_wait` between rounds while the database is away, `fill_interval` between two
    times that sums are computed, `retention` the age at which rows are deleted (None: never).

    `shipped` counts rows, `torn` lines that were not entries (after a power cut, or when a worker
    was killed within a write).
    """

    def __init__(
        self,
        folder: Path,
        table: UsageTable,
        *,
        batch: int = 512,
        interval: float = 0.25,
        longest_wait: float = 30.0,
        fill_interval: float = 10.0,
        timeout: float = 15.0,
        retention: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.folder = folder
        self.shipped = 0
        self.torn = 0
        self._writer = LedgerWriter(table, folder / "refused.jsonl", timeout)
        self._retention = (
            Retention(folder, self._writer, retention) if retention is not None else None
        )
        self._batch = batch
        self._interval = interval
        self._longest_wait = longest_wait
        self._fill_interval = fill_interval
        self._clock = clock
        self._next_fill = -1e300
        self._offsets: dict[str, int] = {}
        self._synced: set[str] = set()
        self._waiting: list[tuple[float, int]] = []
        self._bytes_read = self._lines_read = 0
        self._background = PeriodicTask(self.attempt, interval)
        self._throttle = LogThrottle()
        self._file_throttle = LogThrottle()

    @property
    def refusals(self) -> int:
        """The number of rows that the database rejected; they are in `refused.jsonl`."""
        return self._writer.refusals

    def lag(self) -> Lag:
        """The backlog of files that the last round did not ship; its rows are an estimate."""
        now = self._clock()
        line = self._bytes_read / self._lines_read if self._lines_read else _LINE
        rows = sum(size for _, size in self._waiting) / line
        oldest = min((created for created, _ in self._waiting), default=now)
        return Lag(round(rows), max(0.0, now - oldest))

    def start(self) -> None:
        """Start shipping in the background. Call it in its process, after the fork."""
        self._background.start()

    def close(self, timeout: float = 3.0) -> None:
        """Stop the background greenlet and ship the rest, each within `timeout` seconds. Entries
        that are not shipped by then stay in the journal."""
        self._background.stop(timeout)
        with gevent.Timeout(timeout, False):  # type: ignore[arg-type]  # its stubs do not know
            self._attempt(partial(self._ship_files, timeout), 0.0)

    def round(self) -> None:
        """Ship all entries. Raises DatabaseError and OSError; the next round then continues."""
        now = self._clock()
        self._ship_files(self._interval)
        if not now < self._next_fill <= now + self._fill_interval:  # beyond: the clock was set back
            self._next_fill = now + self._fill_interval
            self._fill(now)
        if self._retention is not None:
            self._retention.run(now, partial(self._ship_files, self._interval))

    def attempt(self, waited: float) -> float:
        """Run a round and log its failure. `waited` is the wait before it in seconds. Returns the
        wait until the next one: `interval`, or twice `waited` after a failure."""
        return self._attempt(self.round, waited)

    def _attempt(self, work: Callable[[], None], waited: float) -> float:
        try:
            work()
        except (DatabaseError, OSError) as error:
            self._throttle.log("the ledger's rows wait in %s: %s", self.folder, error)
        except Exception:
            log.exception("shipping the ledger's rows failed; they wait in %s", self.folder)
        else:
            return self._interval
        self._keep_waiting_files()
        return min(max(waited, self._interval) * 2, self._longest_wait)

    def _ship_files(self, seconds: float) -> None:
        """Ship the files without an owner; after that many seconds the next call continues."""
        start = self._clock()
        paths = files(self.folder)
        names = {path.name for path in paths}
        self._offsets = {n: offset for n, offset in self._offsets.items() if n in names}
        self._synced &= names
        self._waiting = []
        for path in sorted(paths, key=_age):
            with self._claimed(path) as segment:
                if segment is None:
                    continue
                try:
                    self._ship(segment)
                finally:
                    self._offsets[path.name] = segment.offset
                segment.path.unlink(missing_ok=True)
                del self._offsets[path.name]
            if not 0 <= self._clock() - start <= seconds:
                self._keep_waiting_files()
                return

    def _fill(self, start: float) -> None:
        """Compute the sums of old rows; after `interval` seconds the next round continues."""
        while self._writer.query(self._writer.table.fill):
            if self._clock() - start > self._interval:
                self._next_fill = start
                return

    def _ship(self, segment: Segment) -> None:
        """Ship a file up to its end."""
        while (batch := segment.read(self._batch)).end != segment.offset:
            if batch.entries:
                self._writer.write(batch.entries)
            self._bytes_read += batch.end - segment.offset
            self._lines_read += batch.lines
            segment.offset = batch.end
            self.shipped += len(batch.entries)
            self.torn += batch.torn
            gevent.sleep(0)

    @contextmanager
    def _claimed(self, path: Path) -> Iterator[Segment | None]:
        """A file that nobody owns, None if it has an owner or cannot be read."""
        segment: Segment | None = None
        try:
            segment = claim(path)
        except OSError as error:
            self._file_throttle.log("a file of the ledger's journal cannot be read: %s", error)
        if segment is None:
            yield None
            return
        segment.offset = self._offsets.get(path.name, 0)
        try:
            yield segment
        finally:
            segment.close()

    def _keep_waiting_files(self) -> None:
        """Measure the backlog, and let each of its files reach the disk, once: one that is shipped
        at once is deleted."""
        waiting = []
        for path in files(self.folder):
            with self._claimed(path) as segment:
                if segment is not None:
                    waiting.append((segment.created, max(0, segment.size - segment.offset)))
                    self._sync(segment)
            gevent.sleep(0)
        self._waiting = [(created, size) for created, size in waiting if size]

    def _sync(self, segment: Segment) -> None:
        if segment.path.name in self._synced:
            return
        try:
            in_thread(partial(os.fsync, segment.fd))
        except OSError as error:
            self._file_throttle.log("a file of the ledger's journal cannot be synced: %s", error)
        else:
            self._synced.add(segment.path.name)


def _age(path: Path) -> float:
    """A key that sorts the newest file first."""
    return -(creation_time(path) or 0.0)
