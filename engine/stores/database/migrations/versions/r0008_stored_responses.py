"""Stored responses of targets that store none.

Expands: programs of older steps do not know the table.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "r0008"
down_revision: str | None = "r0007"


def upgrade() -> None:
    op.create_table(
        "stored_responses",
        sa.Column("key", sa.LargeBinary, nullable=False),
        sa.Column("expires", sa.Double, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_stored_responses")),
    )
    op.create_index(op.f("ix_stored_responses_expires"), "stored_responses", ["expires"])


def downgrade() -> None:
    op.drop_table("stored_responses")
