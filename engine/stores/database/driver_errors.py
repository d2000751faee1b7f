"""What the errors of the drivers mean, with messages that tell an operator what to do."""

from __future__ import annotations

import re
import sqlite3

from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from engine.stores.database.failures import (
    Clash,
    DatabaseAway,
    DatabaseError,
    DatabaseRefuses,
    Deadlock,
)

REMOVED_FILE = "the file was removed"
"""The message of an error about a file of SQLite that was open."""
_SQLITE = (
    (REMOVED_FILE, "the file was removed: put a copy back, or start the gateway again, which "
     "creates an empty one"),
    ("unable to open database file", "it cannot be opened: does its folder exist, and may this "
     "user write there?"),
    ("readonly database", "it cannot be written: this user needs to write the file and its folder"),
    ("file is not a database", "the file is no SQLite database"),
    ("malformed", "the file is damaged: put back a copy, or mend it with sqlite3's .recover"),
    ("no such table", "it has no tables yet: `modelway serve` or `modelway token` creates them"),
    ("no such column", "its tables are of another version"),
    ("database or disk is full", "its disk is full"),
)  # fmt: skip
_POSTGRES = {
    "28": "the login is refused: check the user, the password and pg_hba.conf",
    "3D": "there is no database of that name: make it with `createdb`",
    "42501": "this user lacks a privilege: make it the owner of the database, or GRANT it",
    "42P01": "it has no tables yet: `modelway serve` or `modelway token` creates them",
    "42703": "its tables are of another version",
    "53100": "its disk is full",
}
_TABLES_IN_THE_WAY = ("42P07", "42P17")
"""PostgreSQL's SQLSTATEs of a table that exists, and of a partition that overlaps another."""
_DEADLOCK = "40P01"
"""PostgreSQL's SQLSTATE of a transaction that it ended so that another could go on."""
READ_ONLY = "25006"
"""PostgreSQL's SQLSTATE of a write to a standby."""
READ_ONLY_SESSION = "session is read-only"
"""The driver's message about a connection to a standby if a primary is required."""
_CONNECTING = (
    ("authentication failed", "28"),
    ("no pg_hba.conf entry", "28"),
    ("no password supplied", "28"),
    (r'role "[^"]*" does not exist', "28"),
    (r'database "[^"]*" does not exist', "3D"),
)
"""Errors while connecting have no SQLSTATE: a pattern of the message, and the SQLSTATE to use."""


def failure(error: DBAPIError | PoolTimeout, display_url: str) -> DatabaseError:
    """The DatabaseError for an exception of the driver; `display_url` has no password."""
    if isinstance(error, PoolTimeout):
        return DatabaseAway(f"{display_url}: all its connections are busy")
    original = error.orig
    if isinstance(error, IntegrityError):
        return Clash(f"{display_url}: a row with the same key exists already")
    if isinstance(original, sqlite3.Error):
        return _sqlite(str(original), display_url)
    state = getattr(original, "sqlstate", None) or _state(str(original))
    for code, reason in _POSTGRES.items():
        if state.startswith(code):
            return DatabaseRefuses(f"{display_url}: {reason}")
    if state in _TABLES_IN_THE_WAY:
        return DatabaseRefuses(
            f"{display_url}: {_one_line(original)}: that table is in the way; rename it, or attach "
            "it to `ledger` as the partition of its whole month"
        )
    if state == READ_ONLY or READ_ONLY_SESSION in str(original):
        reason = "it can only be read: it is a standby, and no primary was found"
        return DatabaseAway(f"{display_url}: {reason}", stale=error.connection_invalidated)
    reason = _one_line(original) or type(original).__name__
    if state == _DEADLOCK:
        return Deadlock(f"{display_url}: {reason}")
    return DatabaseAway(
        f"{display_url} does not answer: {reason}", stale=error.connection_invalidated
    )


def _one_line(error: object) -> str:
    return " ".join(str(error).partition("\nLINE 1")[0].split())[:300]


def _sqlite(message: str, display_url: str) -> DatabaseError:
    for part, reason in _SQLITE:
        if part in message:
            return DatabaseRefuses(f"{display_url}: {reason}")
    return DatabaseAway(f"{display_url} does not answer: {message}")


def _state(message: str) -> str:
    return next((code for part, code in _CONNECTING if re.search(part, message)), "")
