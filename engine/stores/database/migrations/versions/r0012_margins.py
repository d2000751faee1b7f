"""Prices of teams: the `margin` of a row is its cost less that of the vendor, and has sums.

Expands: programs of older steps insert rows without a margin, which is right, as they do not know
prices of teams. In SQLite such a program leaves the margins of rows that it adds to the sums out.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.stores.database.migrations.versions import r0005_months_and_totals as r0005

revision = "r0012"
down_revision: str | None = "r0011"

_SUMS = {
    **r0005.SUMS,
    "margin_high": "sum(margin >> 32)",
    "margin_low": "sum(margin & 4294967295)",
}
_NEW = ("margin_high", "margin_low")


def upgrade() -> None:
    op.add_column(_table(), _column("margin"))
    for table in ("ledger_totals", "ledger_models"):
        for name in _NEW:
            op.add_column(table, _column(name))
    _replace_function(_SUMS)


def downgrade() -> None:
    _replace_function(r0005.SUMS)
    for table in ("ledger_totals", "ledger_models"):
        for name in _NEW:
            op.drop_column(table, name)
    op.drop_column(_table(), "margin")


def _column(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False, server_default=sa.text("0"))


def _replace_function(sums: dict[str, str]) -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute(r0005.sum_function(sums))


def _table() -> str:
    """The table with all rows. In PostgreSQL its partitions get the column with it."""
    return "ledger" if op.get_bind().dialect.name == "postgresql" else "usage"
