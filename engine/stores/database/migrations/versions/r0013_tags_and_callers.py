"""What callers read of themselves: indexes for one token or one team.

Expands. A day of one token, or of one team, is a few rows of `ledger_totals`, and the last requests
of a token are the end of an index: neither takes longer because others have sent more.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "r0013"
down_revision: str | None = "r0012"

_TOTALS_INDEX = ("ix_ledger_totals_team_period_start", "ledger_totals", "team, period, start")
_LEDGER_INDEX = "ix_ledger_token_time"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        _index_months()
    else:
        op.execute("CREATE INDEX {} ON {} ({})".format(*_TOTALS_INDEX))


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"DROP INDEX {_LEDGER_INDEX}")
        # The index of the first partition was there before.
        op.execute("CREATE INDEX ix_usage_token_time ON usage (token, time)")
    op.drop_index(_TOTALS_INDEX[0], "ledger_totals")


def _index_months() -> None:
    """Make the indexes while rows are inserted. Each statement is a transaction, and can be
    repeated after a failure."""
    with op.get_context().autocommit_block():
        bind = op.get_bind()
        _index(*_TOTALS_INDEX)
        op.execute(f"CREATE INDEX IF NOT EXISTS {_LEDGER_INDEX} ON ONLY ledger (token, time)")
        partitions = bind.execute(
            sa.text(
                "SELECT inhrelid::regclass::text FROM pg_inherits "
                "WHERE inhparent = 'ledger'::regclass"
            )
        ).scalars()
        for partition in [*partitions]:
            name = f"ix_{partition.rpartition('.')[2]}_token_time"
            _index(name, partition, "token, time")
            op.execute(f"ALTER INDEX {_LEDGER_INDEX} ATTACH PARTITION {name}")


def _index(name: str, table: str, columns: str) -> None:
    """Make an index; one that was interrupted is made anew."""
    valid = f"SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('{name}')"
    is_valid = op.get_bind().execute(sa.text(valid)).scalar()
    if is_valid is False:
        op.execute(f"DROP INDEX CONCURRENTLY {name}")
    if not is_valid:
        op.execute(f"CREATE INDEX CONCURRENTLY {name} ON {table} ({columns})")
