"""The tables `batches` and `batch_results`: what is known of each batch, and which of its results
were counted, once for ever."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import gevent
from sqlalchemy import Connection, Table, select

from engine.stores.database.database import Database, upsert
from engine.stores.database.failures import DatabaseAway
from engine.stores.database.schema import batch_results, batches
from engine.stores.database.usage import UsageTable
from engine.stores.ledger_entry import Entry, repaired

T = TypeVar("T")

_TRIES = 10
_PAUSE = 0.05
"""Seconds between two tries of a write for which SQLite is busy."""


class BatchTable:
    """Batches and their results in the database. All raise DatabaseError."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._usage = UsageTable(database)

    def put(self, key: bytes, data: bytes) -> None:
        """Keep what is known of a batch or a file, unless something is."""
        self._again(lambda: self._database.write(self._put(batches, [{"key": key, "data": data}])))

    def get(self, key: bytes) -> bytes | None:
        """What is known by a key, None for nothing."""
        query = select(batches.c.data).where(batches.c.key == key)
        data = self._database.read(lambda c: c.execute(query).scalar())
        return None if data is None else bytes(data)

    def count(self, rows: Sequence[tuple[bytes, Entry]], claim: bytes) -> set[bytes]:
        """Write the entries of results to the ledger whose keys were never counted. Returns these
        keys. `claim` is random; with the same one the same results are new again, so that a write
        whose outcome is not known can be repeated."""
        entries = {key: repaired(Entry._make(entry)) for key, entry in rows}

        def new(connection: Connection) -> list[Entry]:
            self._put(batch_results, [{"key": key, "claim": claim} for key in entries])(connection)
            table = batch_results.c
            query = select(table.key).where(table.claim == claim, table.key.in_([*entries]))
            keys.clear()
            keys.update(bytes(key) for key in connection.execute(query).scalars())
            return [entries[key] for key in keys]

        keys: set[bytes] = set()
        if entries:
            self._again(lambda: self._usage.insert_chosen(new, [*entries.values()]))
        return keys

    def _put(
        self, table: Table, values: Sequence[dict[str, bytes]]
    ) -> Callable[[Connection], None]:
        statement = upsert(table, self._database.kind).on_conflict_do_nothing()

        def change(connection: Connection) -> None:
            connection.execute(statement, values)

        return change

    def _again(self, write: Callable[[], T]) -> T:
        for _ in range(_TRIES):
            try:
                return write()
            except DatabaseAway:
                gevent.sleep(_PAUSE)
        return write()
