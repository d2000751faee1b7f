"""The table `stored_responses`: values by a key, until they expire."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import gevent
from sqlalchemy import Connection, delete, func, insert, select

from engine.stores.database.database import Database
from engine.stores.database.failures import Clash, DatabaseAway
from engine.stores.database.schema import stored_responses as table

T = TypeVar("T")

_TRIES = 10
_PAUSE = 0.05
"""Seconds between two tries of a write for which SQLite is busy."""
_BATCH = 500
_LAST = b"\xff" * 64
"""Behind a prefix: the last key."""
ROW = 200
"""Bytes that a row takes beside its value."""


class ExpiringValues:
    """Stored responses in the database. Times are Unix seconds. All raise DatabaseError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, key: bytes, expires: float, data: bytes) -> None:
        """Keep a value, instead of an earlier one of the same key."""

        def change(connection: Connection) -> None:
            connection.execute(delete(table).where(table.c.key == key))
            connection.execute(insert(table), {"key": key, "expires": expires, "data": data})

        self._write(change)

    def claim(self, key: bytes, expires: float, data: bytes, now: float) -> bool:
        """Keep a value that nobody else writes, unless the key has one that has not expired.
        Returns whether it is kept: of several that claim a key at one time, one gets it."""

        def change(connection: Connection) -> bool:
            old = (table.c.key == key) & (table.c.expires <= now)
            connection.execute(delete(table).where(old))
            row = {"key": key, "expires": expires, "data": data}
            connection.execute(insert(table), row)
            return True

        try:
            return self._write(change)
        except Clash:
            return self.get(key, now) == data  # its own, of a write whose outcome was not known

    def get(self, key: bytes, now: float) -> bytes | None:
        """The value of a key, None if there is none that has not expired."""
        query = select(table.c.data).where(table.c.key == key, table.c.expires > now)
        data = self._database.read(lambda c: c.execute(query).scalar())
        return None if data is None else bytes(data)

    def remove(self, key: bytes) -> None:
        """Forget the value of a key."""
        self._write(lambda c: c.execute(delete(table).where(table.c.key == key)))

    def size(self, prefix: bytes, now: float) -> int:
        """The bytes that values take which have not expired and whose keys begin with a prefix."""
        keys = table.c.key.between(prefix, prefix + _LAST)
        rows = func.sum(func.length(table.c.data) + ROW)
        query = select(rows).where(keys, table.c.expires > now)
        return int(self._database.read(lambda c: c.execute(query).scalar()) or 0)

    def remove_expired(self, now: float) -> None:
        """Delete what has expired, in short transactions."""
        old = select(table.c.key).where(table.c.expires <= now).limit(_BATCH)
        statement = delete(table).where(table.c.key.in_(old))
        while self._write(lambda c: c.execute(statement).rowcount) == _BATCH:
            gevent.sleep(_PAUSE)

    def _write(self, change: Callable[[Connection], T]) -> T:
        for _ in range(_TRIES):
            try:
                return self._database.write(change)
            except DatabaseAway:
                gevent.sleep(_PAUSE)
        return self._database.write(change)
