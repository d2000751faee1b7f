"""The warnings of a token's limits, and the tags of a request.

Expands: programs of older steps do not know the columns. Tags are not names of the sums: requests
name their values, and each new one would be a row in every period. Reports by them read the rows.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "r0010"
down_revision: str | None = "r0009"


def upgrade() -> None:
    op.add_column("tokens", sa.Column("warn_at", sa.JSON))
    tags = sa.Column("tags", sa.Text, nullable=False, server_default=sa.text("''"))
    op.add_column(_table(), tags)


def downgrade() -> None:
    op.drop_column(_table(), "tags")
    op.drop_column("tokens", "warn_at")


def _table() -> str:
    """The table with all rows. In PostgreSQL its partitions get the column with it."""
    return "ledger" if op.get_bind().dialect.name == "postgresql" else "usage"
