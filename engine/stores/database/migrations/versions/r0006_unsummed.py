"""SQLite: rows wait for their sums.

Expands: programs of older steps can still insert into `usage`. A row changes four sums, which lie
far from each other in the file if many models and operations are used: added thousands at a time
and in order, they cost a third. The trigger notes each row, and the program adds the noted ones.
"""

from __future__ import annotations

from alembic import op

from engine.stores.database.migrations.versions import r0005_months_and_totals as r0005

revision = "r0006"
down_revision: str | None = "r0005"

# A program of r0005 inserts this row while it adds the rows of its transaction itself.
_ALONE = "NOT EXISTS (SELECT 1 FROM ledger_state WHERE name = 'batch')"


def upgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return
    op.execute("DROP TRIGGER usage_sums")
    op.execute("CREATE TABLE ledger_unsummed (id TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID")
    # CROSS JOIN, because SQLite then reads the few noted rows by their ids.
    op.execute(
        "CREATE VIEW ledger_unsummed_rows AS SELECT usage.* FROM ledger_unsummed "
        "CROSS JOIN usage ON usage.id = ledger_unsummed.id"
    )
    op.execute(
        f"CREATE TRIGGER usage_unsummed AFTER INSERT ON usage WHEN {_ALONE} "
        "BEGIN INSERT INTO ledger_unsummed VALUES (NEW.id) ON CONFLICT DO NOTHING; END"
    )
    # `fill`, also that of r0005, computes the sums of all rows of these hours.
    op.execute(
        "CREATE TRIGGER ledger_filled AFTER UPDATE ON ledger_state WHEN NEW.name = 'totals_from' "
        "BEGIN DELETE FROM ledger_unsummed WHERE id IN "
        "(SELECT id FROM usage WHERE time >= NEW.value AND time < OLD.value); END"
    )


def downgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return
    for trigger in ("usage_unsummed", "ledger_filled"):
        op.execute(f"DROP TRIGGER {trigger}")
    op.execute(r0005.sqlite_trigger())
    # Inserted once more, the rows are added by the other trigger.
    op.execute("CREATE TEMP TABLE unsummed AS SELECT * FROM ledger_unsummed_rows")
    op.execute("DELETE FROM usage WHERE id IN (SELECT id FROM ledger_unsummed)")
    op.execute("INSERT INTO usage SELECT * FROM unsummed")
    op.execute("DROP TABLE unsummed")
    op.execute("DROP VIEW ledger_unsummed_rows")
    op.execute("DROP TABLE ledger_unsummed")
