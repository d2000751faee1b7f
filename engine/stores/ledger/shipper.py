"""Bringing the journal's rows into the database, beside the requests and never in their way.

A row may be entered again after a failure, as its id makes sure that it counts once: so nothing is
lost and nothing counts twice when the database goes away, even when only its answer was lost.
"""

from __future__ import annotations

import logging
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import gevent

from engine.stores.ledger.hourly import hourly
from engine.stores.ledger.journal import Journal
from engine.stores.ledger.segment import Segment, claim, files
from engine.stores.ledger.writer import LedgerWriter, in_thread
from engine.stores.records.failures import RecordsError
from engine.stores.records.usage import Books
from engine.values.periodic import Background
from engine.values.throttle import LogThrottle

log = logging.getLogger("modelway")

_LINE = 200
"""Bytes of a usual line, where none has been written yet."""
_FORGOTTEN = 1000
"""Rows that are deleted at a time."""


@dataclass(frozen=True, slots=True)
class Lag:
    """How far the database is behind: rows that wait (those in files without an owner are an
    estimate) and the age of the oldest, in seconds."""

    rows: int
    seconds: float


class Shipper:
    """Ships what this worker's journal holds, and the files that dead workers left.

    `books` None: there is no database, and the files are kept. `batch` rows are entered at a time.
    `interval` is the seconds between rounds, at most `longest_wait` while the database is away;
    `scan` those between looks for files without an owner, `patience` those given to one batch,
    `retention` those for which rows are kept (None: for ever).

    `shipped` counts rows, `torn` lines that were none (a power cut, or a worker killed in
    mid-write).
    """

    def __init__(
        self,
        journal: Journal,
        books: Books | None,
        *,
        batch: int = 512,
        interval: float = 0.5,
        longest_wait: float = 30.0,
        scan: float = 10.0,
        patience: float = 15.0,
        retention: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.journal = journal
        self.shipped = 0
        self.torn = 0
        aside = journal.folder / "refused.jsonl"
        self._ledger_writer = None if books is None else LedgerWriter(books, aside, patience)
        self._batch = batch
        self._interval = interval
        self._longest_wait = longest_wait
        self._scan = scan
        self._retention = retention
        self._clock = clock
        self._next_scan = self._next_retirement = -1e300
        self._offsets: dict[str, int] = {}
        self._left: list[tuple[float, int]] = []
        self._background = Background(partial(self._attempt, self.round), interval)
        self._complaint = LogThrottle()

    @property
    def refused(self) -> int:
        """Rows that the database does not take; they are kept in `refused.jsonl`."""
        return 0 if self._ledger_writer is None else self._ledger_writer.refused

    def lag(self) -> Lag:
        """What waits now, of this worker and, as last seen, without an owner."""
        now = self._clock()
        own = [*self.journal.rotated, *filter(None, [self.journal.live])]
        written, size = sum(s.rows for s in own), sum(s.size for s in own)
        line = size / written if written else _LINE
        rows = written - sum(s.entered for s in own) + sum(n for _, n in self._left) / line
        since = [s.waiting for s in own if s.waiting is not None] + [t for t, _ in self._left]
        return Lag(round(rows), max(0.0, now - min(since, default=now)))

    def start(self) -> None:
        """Ship in the background from now on; in the worker, after the fork."""
        self._background.start()

    def close(self, patience: float = 3.0) -> None:
        """End the background's work, and ship what can be in so many seconds; leave the rest."""
        self._background.end(patience)
        self.journal.rotate()
        with gevent.Timeout(patience, False):  # type: ignore[arg-type]  # its stubs do not know
            self._attempt(self._ship_own, 0.0)
        self.journal.close()

    def round(self) -> None:
        """Ship what there is. Raises RecordsError and OSError; another round goes on from there."""
        now = self._clock()
        self.journal.rotate(now)
        if self._ledger_writer is None:
            self._hand_back()
            return
        self._ship_own()
        if now >= self._next_scan:
            self._next_scan = now + self._scan
            self._ship_left(now)
        self._retire(now, self._ledger_writer)

    def _attempt(self, work: Callable[[], None], waited: float) -> float:
        """Do some work; how long to wait before the next, which is longer after a failure.

        Whatever fails, shipping goes on: the rows are in the journal, and the reason in the log.
        """
        try:
            try:
                work()
                return self._interval
            finally:
                self._hand_back()
        except (RecordsError, OSError) as error:
            self._complaint.say("the ledger's rows wait in %s: %s", self.journal.folder, error)
        except Exception:
            log.exception("shipping the ledger's rows failed; they wait in %s", self.journal.folder)
        self._survey()
        return min(max(waited, self._interval) * 2, self._longest_wait)

    def _ship_own(self) -> None:
        while self.journal.rotated:
            segment = self.journal.rotated[0]
            self._drain(segment, closed=True)
            self.journal.rotated.remove(segment)
            segment.discard()
        if self.journal.live is not None:
            self._drain(self.journal.live, closed=False)

    def _ship_left(self, began: float) -> None:
        """Ship the files without an owner; those that are left after a while wait for a round."""
        paths = list(files(self.journal.folder))
        self._offsets = {p.name: self._offsets.get(p.name, 0) for p in paths}
        self._left = []
        random.shuffle(paths)  # so that workers do not all want the same one
        for path in paths:
            segment = self._claim(path)
            if segment is None:
                continue
            try:
                self._drain(segment, closed=True)
            except BaseException:
                self._offsets[path.name] = segment.shipped
                segment.close()
                raise
            segment.discard()
            if self._clock() - began > self._interval:
                self._next_scan = began
                return

    def _drain(self, segment: Segment, closed: bool) -> None:
        """Ship a file, to its end or, when it is still being written, to where that is now."""
        assert self._ledger_writer is not None
        size = segment.size
        while closed or segment.shipped < size:
            now = self._clock()
            whole = segment.size
            batch = segment.read(self._batch, closed)
            if batch.end == segment.shipped:
                return
            if batch.rows:
                self._ledger_writer.enter(batch.rows)
            segment.shipped = batch.end
            segment.entered += batch.lines
            if batch.end >= whole:
                segment.waiting = None if segment.size == whole else now
            self.shipped += len(batch.rows)
            self.torn += batch.torn
            gevent.sleep(0)

    def _claim(self, path: Any) -> Segment | None:
        try:
            segment = claim(path)
        except OSError as error:
            self._complaint.say("a file of the ledger's journal cannot be read: %s", error)
            return None
        if segment is not None:
            segment.shipped = self._offsets.get(path.name, 0)
        return segment

    def _hand_back(self) -> None:
        """Let go of files that were not shipped, so that none is held open for long."""
        while self.journal.rotated:
            segment = self.journal.rotated.pop()
            self._offsets[segment.path.name] = segment.shipped
            try:
                # Only here: a file that is shipped at once need not get to the disk.
                in_thread(partial(os.fsync, segment.fd))
            finally:
                segment.close()

    def _survey(self) -> None:
        """See how much lies in files without an owner."""
        left = []
        for path in files(self.journal.folder):
            segment = self._claim(path)
            if segment is not None:
                left.append((segment.begun, max(0, segment.size - segment.shipped)))
                segment.close()
            gevent.sleep(0)
        self._left = [(begun, size) for begun, size in left if size]

    def _retire(self, now: float, ledger_writer: LedgerWriter) -> None:
        """Delete what is older than it is kept, a little at a time."""
        if self._retention is None or now < self._next_retirement:
            return
        self._next_retirement = now + 60
        before = now - self._retention
        with hourly(self.journal.folder / "retention.lock", now) as due:
            while (
                due
                and ledger_writer.ask(lambda: ledger_writer.books.forget(before, _FORGOTTEN))
                == _FORGOTTEN
            ):
                self._ship_own()
                gevent.sleep(0.05)
