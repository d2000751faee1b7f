"""Migrates the tables to the version of this program.

Many processes may start at once: one of them migrates, the others wait for it.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from engine.source.files import is_file
from engine.stores.records.database import Database
from engine.stores.records.failures import DatabaseAway, DatabaseRefuses, WrongVersion
from engine.stores.records.migrations import HEAD

FOLDER = Path(__file__).parent / "migrations"
_LOCK = 0x6D6F64656C776179  # "modelway"
_TIMEOUT = 30.0


def upgrade(database: Database) -> None:
    """Create the tables, or migrate them. Raises WrongVersion and other RecordsErrors.

    SQLite's file is created as well, with its folder, with mode 0600.
    """
    _make_file(database)
    if check_version(database):
        return
    if database.kind == "sqlite":
        _enable_wal(database)
    database.write(lambda connection: _upgrade(connection, database))


def check_version(database: Database) -> bool:
    """Whether the tables have the version of this program; False when `upgrade` has work to do.

    Raises WrongVersion when a newer program has created them.
    """
    return _is_current(database.read(_revision), database)


def _is_current(revision: str | None, database: Database) -> bool:
    if revision == HEAD:
        return True
    from alembic.script import ScriptDirectory

    steps = ScriptDirectory(str(FOLDER)).walk_revisions()
    if revision is not None and revision not in {step.revision for step in steps}:
        raise WrongVersion(
            f"{database.display_url} was made by a newer Modelway (its tables are {revision}, this "
            f"program knows up to {HEAD}): run that version, or put back the copy from before its "
            "upgrade"
        )
    return False


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if revision is None else str(revision)


def _upgrade(connection: Connection, database: Database) -> None:
    if database.kind == "postgresql":
        for setting in ("statement_timeout", "lock_timeout"):
            connection.execute(text(f"SET LOCAL {setting} = '{int(_TIMEOUT)}s'"))
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
    if _is_current(_revision(connection), database):  # another process has migrated meanwhile
        return
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


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
    """Allow readers beside a writer, and a file that can shrink: both are properties of the file,
    set before it has tables, while no other process writes."""
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
