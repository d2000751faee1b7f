"""The program that sent a request, its version, and its session.

Expands: programs of older steps insert rows without them. They are not names of the sums: callers
choose them, and each new one would be a row in every period. Reports by them read the rows.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "r0007"
down_revision: str | None = "r0006"

_NAMES = ("client", "client_version", "session")


def upgrade() -> None:
    for name in _NAMES:
        column = sa.Column(name, sa.Text, nullable=False, server_default=sa.text("''"))
        op.add_column(_table(), column)


def downgrade() -> None:
    for name in reversed(_NAMES):
        op.drop_column(_table(), name)


def _table() -> str:
    """The table with all rows. In PostgreSQL its partitions get the columns with it."""
    return "ledger" if op.get_bind().dialect.name == "postgresql" else "usage"
