"""Bringing the tables to the version that this program knows.

Safe when many processes start at once: one of them does it, the others wait and find it done.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from engine.source.files import is_file
from engine.stores.records.database import Database, DatabaseAway, file_of
from engine.stores.records.failures import DatabaseRefuses, WrongVersion
from engine.stores.records.migrations import HEAD

_FOLDER = Path(__file__).parent / "migrations"
_LOCK = 0x6D6F64656C776179  # "modelway"
_PATIENCE = 30.0


def upgrade(database: Database) -> None:
    """Make the tables, or bring them up to date. Raises WrongVersion and other RecordsErrors.

    SQLite's file is made as well, with its folder, for this user alone.
    """
    _make_file(database)
    if check_version(database):
        return
    if database.kind == "sqlite":
        _write_ahead(database)
    database.write(lambda connection: _upgrade(connection, database))


def check_version(database: Database) -> bool:
    """Whether the tables are those that this program knows; False when `upgrade` has work to do.

    Raises WrongVersion when a newer program has made them, as nobody here knows what they mean.
    """
    return _is_current(database.read(_revision), database)


def _is_current(found: str | None, database: Database) -> bool:
    if found == HEAD:
        return True
    from alembic.script import ScriptDirectory

    steps = ScriptDirectory(str(_FOLDER)).walk_revisions()
    if found is not None and found not in {step.revision for step in steps}:
        raise WrongVersion(
            f"{database.shown} was made by a newer Modelway (its tables are {found}, this program "
            f"knows up to {HEAD}): run that version, or put back the copy from before its upgrade"
        )
    return False


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def _upgrade(connection: Connection, database: Database) -> None:
    if database.kind == "postgresql":
        for setting in ("statement_timeout", "lock_timeout"):
            connection.execute(text(f"SET LOCAL {setting} = '{int(_PATIENCE)}s'"))
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
    if _is_current(_revision(connection), database):  # somebody else has done it meanwhile
        return
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _make_file(database: Database) -> None:
    file = file_of(database)
    if file is None or is_file(file):
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise DatabaseRefuses(f"{database.shown}: cannot make {file}: {error.strerror}") from error


def _set_modes(connection: Connection) -> None:
    connection.exec_driver_sql("PRAGMA auto_vacuum=INCREMENTAL")
    connection.exec_driver_sql("PRAGMA journal_mode=WAL")


def _write_ahead(database: Database) -> None:
    """Readers and a writer side by side, and a file that can shrink, which must be said before it
    has tables. The file keeps this; nobody may be writing meanwhile."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            database.read(_set_modes)
        except DatabaseAway:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return
