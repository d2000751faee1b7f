"""Migrates the tables to the version of this program.

Many processes may start at once: one of them migrates, and the others wait.
"""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    Select,
    Table,
    column,
    delete,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy import table as table_clause

from engine.source.files import is_file
from engine.stores.database.database import Database
from engine.stores.database.failures import DatabaseAway, DatabaseRefuses, Deadlock, WrongVersion
from engine.stores.database.migrations import HEAD, OLDEST_PROGRAM, STEPS, VERSION_TABLE

FOLDER = Path(__file__).parent / "migrations"
_LOCK = 0x6D6F64656C776179  # "modelway"
_TIMEOUT = 30.0
_OLDEST_TABLE = "alembic_version"


def upgrade(database: Database) -> None:
    """Create the tables, or migrate them; also SQLite's file, with its folder, in mode 0600. Raises
    WrongVersion and other DatabaseErrors.
    """
    _make_file(database)
    if check_version(database):
        return
    if database.kind == "sqlite":
        _enable_wal(database)
        database.write(partial(_upgrade_sqlite, database))
    else:
        database.write(partial(_upgrade_postgresql, database))


def check_version(database: Database) -> bool:
    """Whether the tables are up to date; False if `upgrade` must be called. Raises WrongVersion if
    a newer program has changed them so that this one cannot use them.
    """
    return _is_usable(*database.read(_versions), database)


def _is_usable(revision: str | None, oldest: str | None, database: Database) -> bool:
    if revision in (None, *STEPS) and oldest in (None, *STEPS):
        return revision == HEAD
    if oldest in STEPS:
        return True
    raise WrongVersion(
        f"{database.display_url} was made by a newer Modelway (its tables are {revision}, this "
        f"program knows up to {HEAD}): run that version, or put back the copy from before its "
        "upgrade"
    )


def _versions(connection: Connection) -> tuple[str | None, str | None]:
    """The last migration of the tables, and the oldest program that can use them."""

    def version(table: str) -> str | None:
        if not inspect(connection).has_table(table):
            return None
        query: Select[Any] = select(column("version_num")).select_from(table_clause(table))
        revision = connection.execute(query).scalar()
        return None if revision is None else str(revision)

    oldest = version(_OLDEST_TABLE)
    return version(VERSION_TABLE) or oldest, oldest


def _upgrade_sqlite(database: Database, connection: Connection) -> None:
    if not _is_usable(*_versions(connection), database):  # another process may have migrated
        _take_steps(connection)


def _upgrade_postgresql(database: Database, lock: Connection) -> None:
    """Run the migrations on another connection, while the transaction of this one holds the lock.
    The lock is polled: a statement that waits for it would block `CREATE INDEX CONCURRENTLY`. Older
    programs lock partitions before the table, newer ones the table before: neither order of ours
    excludes a deadlock, after which the steps that are left are taken again.
    """
    lock.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
    deadline = time.monotonic() + _TIMEOUT
    while not lock.execute(text(f"SELECT pg_try_advisory_xact_lock({_LOCK})")).scalar():
        if time.monotonic() > deadline:
            raise DatabaseAway(f"{database.display_url}: another process is migrating its tables")
        time.sleep(0.1)
    while not check_version(database):
        try:
            database.maintain(_take_steps)
        except Deadlock:
            if time.monotonic() > deadline:
                raise


def _take_steps(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    revision, oldest = _versions(connection)
    _commit(connection)
    if revision is not None:
        _note_version(connection, VERSION_TABLE, revision)
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    steps = ScriptDirectory(str(FOLDER)).iterate_revisions("head", "base")
    contractions = [getattr(step.module, "oldest_program", "") for step in steps]
    _note_version(connection, _OLDEST_TABLE, max(oldest or OLDEST_PROGRAM, *contractions))


def _note_version(connection: Connection, table: str, version: str) -> None:
    columns = "version_num VARCHAR(32) NOT NULL PRIMARY KEY"
    connection.execute(text(f"CREATE TABLE IF NOT EXISTS {table} ({columns})"))
    versions = Table(table, MetaData(), Column("version_num"))
    connection.execute(delete(versions))
    connection.execute(insert(versions).values(version_num=version))
    _commit(connection)


def _commit(connection: Connection) -> None:
    """Commit in PostgreSQL, where each migration is a transaction."""
    if connection.dialect.name == "postgresql":
        connection.commit()


def _make_file(database: Database) -> None:
    file = database.file
    if file is None or is_file(file):
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise DatabaseRefuses(
            f"{database.display_url}: cannot make {file}: {error.strerror}"
        ) from error


def _set_modes(connection: Connection) -> None:
    connection.exec_driver_sql("PRAGMA auto_vacuum=INCREMENTAL")
    connection.exec_driver_sql("PRAGMA journal_mode=WAL")


def _enable_wal(database: Database) -> None:
    """Set WAL mode, so that readers do not wait for a writer, and incremental vacuum, so that the
    file can shrink. Both are properties of the file, set before it has tables, while no other
    process writes."""
    deadline = time.monotonic() + _TIMEOUT
    while True:
        try:
            database.read(_set_modes)
        except DatabaseAway:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return
