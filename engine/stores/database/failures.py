"""Errors of the database. Who only catches them needs no SQLAlchemy."""

from __future__ import annotations


class DatabaseError(Exception):
    """The database cannot be used. The message names the database, without its password."""


class BadUrl(DatabaseError):
    """The URL of no supported database."""


class WrongVersion(DatabaseError):
    """The tables have a version that this program cannot use."""


class Clash(DatabaseError):
    """A row with the same key exists."""


class DatabaseAway(DatabaseError):
    """The database does not answer in time; it may recover without a restart.

    `stale`: an idle connection was broken, so that another attempt is likely to succeed.
    """

    def __init__(self, message: str, stale: bool = False) -> None:
        super().__init__(message)
        self.stale = stale


class Deadlock(DatabaseAway):
    """Another transaction had the locks in another order, and went on; the same is likely to
    succeed now."""


class DatabaseRefuses(DatabaseError):
    """The database answers with an error that an operator must fix."""


class RowsRefused(DatabaseError):
    """The database rejects one of these rows."""
