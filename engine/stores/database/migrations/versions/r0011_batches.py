"""Batches and the results of them that were counted.

Expands: programs of older steps do not know the tables.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "r0011"
down_revision: str | None = "r0010"


def upgrade() -> None:
    op.create_table(
        "batches",
        sa.Column("key", sa.LargeBinary, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_batches")),
    )
    op.create_table(
        "batch_results",
        sa.Column("key", sa.LargeBinary, nullable=False),
        sa.Column("claim", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_batch_results")),
    )


def downgrade() -> None:
    op.drop_table("batch_results")
    op.drop_table("batches")
