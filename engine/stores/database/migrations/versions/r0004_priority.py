"""The priority of a token."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "r0004"
down_revision: str | None = "r0003"


def upgrade() -> None:
    op.add_column("tokens", sa.Column("priority", sa.Text))


def downgrade() -> None:
    op.drop_column("tokens", "priority")
