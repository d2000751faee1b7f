"""Alembic's entry point: runs the steps on the connection of `engine.stores.database.migrate`.

In PostgreSQL each step is a transaction, so that a step may also run statements outside of one. In
SQLite all steps are one transaction.
"""

from __future__ import annotations

from alembic import context

from engine.stores.database.migrations import VERSION_TABLE
from engine.stores.database.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
