"""The rows of a running gateway's ledger, from its journal and its database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import text

from engine.stores.database.open_database import open_database
from engine.stores.ledger_entry import Entry, decode
from tests.support.waiting import until

Row = dict[str, Any]


class Books:
    """The rows of the gateway whose config is in `folder`, with its journal where it is by default.

    A row is in the journal as soon as its request is over, and a moment later in the database.
    """

    def __init__(self, folder: Path, url: str = "") -> None:
        self._folder = folder
        self._url = url or f"sqlite:///{folder}/records.db"

    def _journal_rows(self) -> list[Row]:
        """The rows in the files of the journal; incomplete lines are skipped."""
        rows = []
        for path in sorted((self._folder / "var" / "journal").glob("*")):
            with suppress(FileNotFoundError, IsADirectoryError):  # a shipped file is removed
                lines = path.read_bytes().splitlines()
                rows += [row._asdict() for line in lines if (row := decode(line)) is not None]
        return rows

    def outcomes(self) -> Counter[str]:
        """How often each outcome occurs, of all rows."""
        return Counter(row["outcome"] for row in self.rows().values())

    def rows(self) -> dict[str, Row]:
        """The rows in the journal and in the database, by their ids.

        The journal is read first, then the database with one query: a row that is shipped between
        the two is found in at least one of them.
        """
        rows = {row["id"]: row for row in self._journal_rows()}
        entries = (Entry(*row)._asdict() for row in self._select(", ".join(Entry._fields)))
        return rows | {row["id"]: row for row in entries}

    def rows_of(self, work: Callable[[], Any], count: int = 1) -> list[Row]:
        """The rows that `work` adds, by time. AssertionError unless `count`."""
        before = self.rows().keys()

        def new() -> list[Row]:
            return [row for name, row in self.rows().items() if name not in before]

        work()
        until(lambda: len(new()) >= count, f"{count} rows")
        rows = new()
        assert len(rows) == count, rows
        return sorted(rows, key=lambda row: row["time"])

    def column(self, column: str = "id") -> list[Any]:
        """A column of all rows in the database."""
        return [row[0] for row in self._select(column)]

    def _select(self, columns: str) -> list[Any]:
        database = open_database(self._url)
        try:
            query = text(f"SELECT {columns} FROM usage")
            return [tuple(row) for row in database.read(lambda c: c.execute(query).fetchall())]
        finally:
            database.close()
