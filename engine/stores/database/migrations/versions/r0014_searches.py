"""The search units of rerankings: `searches` of the ledger.

Expands: programs of older steps insert rows without it. It has no sum.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "r0014"
down_revision: str | None = "r0013"


def upgrade() -> None:
    none = sa.text("0")
    op.add_column(
        _table(), sa.Column("searches", sa.BigInteger, nullable=False, server_default=none)
    )


def downgrade() -> None:
    op.drop_column(_table(), "searches")


def _table() -> str:
    """The table with all rows. In PostgreSQL its partitions get the column with it."""
    return "ledger" if op.get_bind().dialect.name == "postgresql" else "usage"
