"""What Alembic runs: the steps, inside the transaction of `engine.stores.records.migrate`."""

from __future__ import annotations

from alembic import context

from engine.stores.records.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
