"""The warnings of a token's limits.

Expands: programs of older steps do not know the column.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "r0010"
down_revision: str | None = "r0009"


def upgrade() -> None:
    op.add_column("tokens", sa.Column("warn_at", sa.JSON))


def downgrade() -> None:
    op.drop_column("tokens", "warn_at")
