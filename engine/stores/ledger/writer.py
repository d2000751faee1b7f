"""Asking the ledger's database from a worker: in time, and without stopping its other requests."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import gevent
import orjson

from engine.stores.ledger.entry import Row, mended, named
from engine.stores.records.failures import DatabaseAway
from engine.stores.records.usage import Books, RowsRefused

log = logging.getLogger("modelway")

T = TypeVar("T")


class LedgerWriter:
    """Enters rows into the books. What asks a database that blocks runs in gevent's threads.

    `refused` counts the rows that the database does not take at all; they are kept as lines of the
    file `aside`. `patience` is in seconds.
    """

    def __init__(self, books: Books, aside: Path, patience: float) -> None:
        self.books = books
        self.refused = 0
        self._aside = aside
        self._patience = patience

    def enter(self, rows: Sequence[Row]) -> int:
        """Enter rows, or put aside those that cannot be; how many are new in the database.

        Raises RecordsError and OSError.
        """
        try:
            return self.ask(lambda: self.books.insert(rows))
        except RowsRefused:
            return self._enter_part([mended(row) for row in rows])

    def ask(self, question: Callable[[], T]) -> T:
        """What the database answers. Raises RecordsError, also when it takes too long."""
        if self.books.blocks:
            return in_thread(question)
        timer = gevent.Timeout.start_new(self._patience)
        try:
            return question()
        except gevent.Timeout as rung:
            if rung is not timer:
                raise
            shown = self.books.database.shown
            raise DatabaseAway(f"{shown} does not answer in {self._patience:g} s") from rung
        finally:
            timer.close()

    def _enter_part(self, rows: Sequence[Row]) -> int:
        """Find the rows at fault by halving: the others must not wait for them for ever."""
        try:
            return self.ask(lambda: self.books.insert(rows))
        except RowsRefused as error:
            if len(rows) == 1:
                self._put_aside(rows[0], error)
                return 0
            half = len(rows) // 2
            return self._enter_part(rows[:half]) + self._enter_part(rows[half:])

    def _put_aside(self, row: Row, error: RowsRefused) -> None:
        with self._aside.open("ab") as file:
            file.write(orjson.dumps(named(row), option=orjson.OPT_APPEND_NEWLINE))
        self.refused += 1
        log.error("%s (%s): it is kept in %s", error, error.__cause__, self._aside)


def in_thread(question: Callable[[], T]) -> T:
    """What a function that blocks returns or raises; meanwhile other requests go on."""
    answer: list[T] = []

    def run() -> Exception | None:
        try:
            answer.append(question())
        except Exception as error:  # noqa: BLE001 - raised below: gevent would print it as well
            return error
        return None

    error: Exception | None = gevent.get_hub().threadpool.apply(run)
    if error is not None:
        raise error
    return answer[0]
