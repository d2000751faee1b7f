"""The team of a token."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "r0002"
down_revision: str | None = "r0001"


def upgrade() -> None:
    op.add_column("tokens", sa.Column("team", sa.Text))


def downgrade() -> None:
    op.drop_column("tokens", "team")
