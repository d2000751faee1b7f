"""The protocol by which a request came: `via` of the ledger.

Expands: programs of older steps insert rows without it. It is not a name of the sums; reports by it
read the rows.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "r0009"
down_revision: str | None = "r0008"


def upgrade() -> None:
    column = sa.Column("via", sa.Text, nullable=False, server_default=sa.text("''"))
    op.add_column(_table(), column)


def downgrade() -> None:
    op.drop_column(_table(), "via")


def _table() -> str:
    """The table with all rows. In PostgreSQL its partitions get the column with it."""
    return "ledger" if op.get_bind().dialect.name == "postgresql" else "usage"
