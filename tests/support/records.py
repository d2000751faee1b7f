"""Queries on the database of the records."""

import re

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect

from engine.stores.database.schema import metadata

TABLES = {
    *("alembic_version", "schema_version", "tokens", "usage"),
    *("ledger_totals", "ledger_models", "ledger_state", "ledger_tags"),
    *("batches", "batch_results", "stored_responses"),
}
"""The tables of both; PostgreSQL has `ledger` and its months as well, SQLite `ledger_unsummed`."""
_OF_ONE_KIND = re.compile(r"ledger(_\d{4}_\d\d|_unsummed)?")
_ONLY_POSTGRESQL = {
    *("ix_ledger_time", "ix_ledger_token_time", "uq_ledger_id_time", "uq_usage_id_time"),
}


def _is_compared(thing, name, kind, reflected, compare_to):
    is_of_one_kind = kind == "table" and _OF_ONE_KIND.fullmatch(name)
    return not is_of_one_kind and name not in {"schema_version", *_ONLY_POSTGRESQL}


def differences(database):
    def compare(connection):
        options = {
            "compare_type": True,
            "compare_server_default": True,
            "include_object": _is_compared,
        }
        return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)

    return database.read(compare)


def table_names(database):
    """All tables but those of one kind of database."""
    names = database.read(lambda c: inspect(c).get_table_names())
    return {name for name in names if not _OF_ONE_KIND.fullmatch(name)}


def select_one(connection):
    return connection.exec_driver_sql("SELECT 1").scalar()
