"""Queries on the database of the records."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect

from engine.stores.records.schema import metadata


def differences(database):
    def compare(connection):
        options = {"compare_type": True, "compare_server_default": True}
        return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)

    return database.read(compare)


def table_names(database):
    return set(database.read(lambda c: inspect(c).get_table_names()))


def select_one(connection):
    return connection.exec_driver_sql("SELECT 1").scalar()
