"""Finds a token in the records' database by its name; it creates and changes nothing."""

from __future__ import annotations

from engine.source.files import is_file
from engine.source.suggestion import did_you_mean
from engine.stores.database import tokens
from engine.stores.database.database import Database
from engine.stores.database.failures import DatabaseError
from engine.stores.database.migrate import check_version
from engine.stores.database.open_database import open_database
from engine.values.caller import Caller


class TokenNotFound(Exception):
    """The token cannot be looked up or does not exist; `str` gives the reason and what to do."""


def caller(url: str, name: str, currency: str) -> Caller:
    """The caller of the token of this name. Raises TokenNotFound."""
    try:
        database = open_database(url)
        try:
            return _caller(database, name, currency)
        finally:
            database.close()
    except DatabaseError as error:
        raise TokenNotFound(f"token '{name}' is not in the config, and {error}") from error


def _caller(database: Database, name: str, currency: str) -> Caller:
    file = database.file
    if file is not None and not is_file(file):
        raise DatabaseError(f"there is no database {file} yet: `modelway token create` creates it")
    if not check_version(database):
        raise DatabaseError(
            f"the tables of {database.display_url} are not up to date: `modelway serve` and "
            "`modelway token` migrate them"
        )
    try:
        token = tokens.get(database, name)
        return token.caller(token.sha256, currency)
    except tokens.UnknownToken as error:
        hint = did_you_mean(name, tokens.names_near(database, name)) or "it has no tokens yet"
        raise DatabaseError(f"not in {database.display_url}; {hint}") from error
    except ValueError as error:
        raise DatabaseError(f"its record in {database.display_url} is invalid: {error}") from error
