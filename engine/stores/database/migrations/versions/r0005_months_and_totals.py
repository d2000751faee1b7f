"""The ledger in partitions by month, with sums by hour, day and 32 days that triggers update.

Expands: programs of r0003 can still insert into `usage` and read it. In PostgreSQL it becomes the
first partition, up to the first of the month after next; its rows are not moved, and locks are held
only briefly. The sums of existing rows are computed later (`totals_from`).
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "r0005"
down_revision: str | None = "r0004"

_DAY = 86_400
_PERIODS = (3600, _DAY, 32 * _DAY)
_NAMES = (
    *("token", "team", "operation", "model_asked", "model_served", "upstream"),
    *("status", "outcome", "price", "currency"),
)
_MODEL_NAMES = ("model_asked", "model_served", "currency")
_COUNTS = (
    *("input", "output", "cached", "reasoning", "cache_write", "audio_input", "audio_output"),
    *("image_input", "image_output", "images", "characters"),
)
_REQUEST = "outcome <> 'cancelled'"
_FAILED = "outcome NOT IN ('caller_left', 'cancelled') AND (outcome <> 'complete' OR status >= 400)"
SUMS = {
    "requests": f"count(*) FILTER (WHERE {_REQUEST})",
    "failed": f"count(*) FILTER (WHERE {_FAILED})",
    **{name: f"sum({name})" for name in _COUNTS},
    "cost_high": "sum(cost >> 32)",
    "cost_low": "sum(cost & 4294967295)",
    "first_byte_count": "count(first_byte)",
    "first_byte_sum": "coalesce(sum(first_byte), 0)",
}
"""The columns of sums, and their expressions in PostgreSQL."""
_LAST_TIME = 253_402_300_800
"""The start of the year 10000, after which there are no partitions."""


def upgrade() -> None:
    postgresql = op.get_bind().dialect.name == "postgresql"
    if postgresql:
        end = _prepare_usage()
    else:
        op.add_column("usage", _team())
    _create_tables()
    if postgresql:
        _partition(end)
    else:
        op.execute("CREATE VIEW ledger AS SELECT * FROM usage")
        op.execute(sqlite_trigger())
    op.execute(
        "INSERT INTO ledger_state SELECT 'totals_from', "
        f"CASE WHEN max(time) IS NULL THEN 0 ELSE {_floor('max(time)', _PERIODS[-1])} + "
        f"{_PERIODS[-1]} END FROM usage"
    )


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE ledger DETACH PARTITION usage")
        op.execute("DROP TRIGGER usage_sums ON usage")
        op.execute("ALTER TABLE usage DROP CONSTRAINT ck_usage_time")
        op.execute(f"INSERT INTO usage SELECT * FROM ledger WHERE time < {_LAST_TIME}")
        op.execute("DROP TABLE ledger")
        op.execute("DROP FUNCTION ledger_add()")
        op.execute("DROP INDEX uq_usage_id_time")
    else:
        op.execute("DROP TRIGGER usage_sums")
        op.execute("DROP VIEW ledger")
    for name in ("ledger_state", "ledger_models", "ledger_totals"):
        op.drop_table(name)
    op.drop_column("usage", "team")


def _team() -> sa.Column[str]:
    return sa.Column("team", sa.Text, nullable=False, server_default=sa.text("''"))


def _create_tables() -> None:
    def names(columns: tuple[str, ...]) -> list[sa.Column[object]]:
        kinds: dict[str, type] = {"status": sa.Integer}
        return [sa.Column(name, kinds.get(name, sa.Text), nullable=False) for name in columns]

    def sums() -> list[sa.Column[object]]:
        kinds: dict[str, type] = {"first_byte_sum": sa.Double}
        return [sa.Column(n, kinds.get(n, sa.BigInteger), nullable=False) for n in SUMS]

    op.create_table(
        "ledger_totals",
        sa.Column("period", sa.Integer, nullable=False),
        sa.Column("start", sa.BigInteger, nullable=False),
        sa.Column("key", sa.LargeBinary, nullable=False),
        *names(_NAMES),
        *sums(),
        sa.PrimaryKeyConstraint("period", "start", "key", name="pk_ledger_totals"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_ledger_totals_token_period_start", "ledger_totals", ["token", "period", "start"]
    )
    op.create_table(
        "ledger_models",
        sa.Column("start", sa.BigInteger, nullable=False),
        sa.Column("key", sa.LargeBinary, nullable=False),
        *names(_MODEL_NAMES),
        *sums(),
        sa.PrimaryKeyConstraint("start", "key", name="pk_ledger_models"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "ledger_state",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("value", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_ledger_state"),
    )


def _prepare_usage() -> str:
    """Prepare `usage` as a partition without a long lock. Returns its end: the first time (Unix
    seconds) that does not belong to it. Each statement is a transaction and can be repeated after a
    failure.
    """
    context = op.get_context()
    with context.autocommit_block():
        bind = op.get_bind()
        op.execute("ALTER TABLE usage ADD COLUMN IF NOT EXISTS team text NOT NULL DEFAULT ''")
        valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('uq_usage_id_time')"
        is_valid = bind.execute(sa.text(valid)).scalar()
        if is_valid is False:  # creating it was interrupted
            op.execute("DROP INDEX CONCURRENTLY uq_usage_id_time")
        if not is_valid:
            op.execute("CREATE UNIQUE INDEX CONCURRENTLY uq_usage_id_time ON usage (id, time)")
        op.execute(f"UPDATE usage SET time = 0 WHERE time >= {_LAST_TIME}")
        end = str(
            bind.execute(
                sa.text(
                    "SELECT extract(epoch FROM date_trunc('month', greatest(now(), "
                    "to_timestamp(max(time))) AT TIME ZONE 'UTC') + interval '2 months')::bigint "
                    "FROM usage"
                )
            ).scalar()
        )
        op.execute("ALTER TABLE usage DROP CONSTRAINT IF EXISTS ck_usage_time")
        op.execute(f"ALTER TABLE usage ADD CONSTRAINT ck_usage_time CHECK (time < {end}) NOT VALID")
        op.execute("ALTER TABLE usage VALIDATE CONSTRAINT ck_usage_time")
    return end


def _partition(end: str) -> None:
    op.execute(
        "CREATE TABLE ledger (LIKE usage INCLUDING DEFAULTS INCLUDING STORAGE) "
        "PARTITION BY RANGE (time)"
    )
    op.execute("CREATE UNIQUE INDEX uq_ledger_id_time ON ledger (id, time)")
    op.execute("CREATE INDEX ix_ledger_time ON ledger (time)")
    for table in ("ledger_totals", "ledger_models"):  # room to update a row in its page
        op.execute(f"ALTER TABLE {table} SET (fillfactor = 70)")
    op.execute(f"ALTER TABLE ledger ATTACH PARTITION usage FOR VALUES FROM (MINVALUE) TO ({end})")
    op.execute(sum_function(SUMS))
    for table in ("ledger", "usage"):
        op.execute(
            f"CREATE TRIGGER {table}_sums AFTER INSERT ON {table} REFERENCING NEW TABLE AS new_rows"
            " FOR EACH STATEMENT EXECUTE FUNCTION ledger_add()"
        )


def sum_function(sums: dict[str, str]) -> str:
    """The statement that makes or replaces the function of the triggers in PostgreSQL: it adds the
    rows of an insert to the sums, whose columns have these expressions."""
    return (
        "CREATE OR REPLACE FUNCTION ledger_add() RETURNS trigger LANGUAGE plpgsql "
        f"SET search_path FROM CURRENT AS $$ BEGIN {_postgresql_sums(sums)}; RETURN NULL; END $$"
    )


def _postgresql_sums(sums: dict[str, str]) -> str:
    """The statements that add the rows of an insert to the sums, in the order of the keys, so that
    there is no deadlock."""

    def insert(table: str, periods: str, names: tuple[str, ...], start: str) -> str:
        period = "period, " if periods else ""
        columns = f"{period}start, key, {', '.join(names)}, {', '.join(sums)}"
        key = f"substring(sha256(convert_to(ROW({', '.join(names)})::text, 'UTF8')) FOR 16)"
        rows = f"SELECT *, {_floor('time', 3600)} AS hour FROM new_rows"
        return (
            f"INSERT INTO {table} AS present ({columns}) "
            f"SELECT {period}{start} AS start, {key} AS key, {', '.join(names)}, "
            f"{', '.join(sums.values())} FROM ({rows}) AS rows{periods} "
            f"GROUP BY {period}{start}, {', '.join(names)} ORDER BY {period}start, key "
            f"ON CONFLICT ({period}start, key) DO UPDATE SET {_additions('present', sums)}"
        )

    values = ", ".join(f"({seconds})" for seconds in _PERIODS)
    return "; ".join(
        (
            insert(
                "ledger_totals",
                f" CROSS JOIN (VALUES {values}) AS periods (period)",
                _NAMES,
                "hour - hour % period",
            ),
            insert("ledger_models", "", _MODEL_NAMES, "hour"),
        )
    )


def sqlite_trigger() -> str:
    """The statement that makes the trigger in SQLite, which adds each row to the sums."""
    new = [f"NEW.{name}" for name in _COUNTS]
    request = "NEW.outcome <> 'cancelled'"
    failed = (
        "NEW.outcome NOT IN ('caller_left', 'cancelled') "
        "AND (NEW.outcome <> 'complete' OR NEW.status >= 400)"
    )
    sums = ", ".join(
        (
            *(request, failed, *new, "NEW.cost >> 32", "NEW.cost & 4294967295"),
            *("NEW.first_byte IS NOT NULL", "coalesce(NEW.first_byte, 0.0)"),
        )
    )

    def insert(table: str, periods: str, names: tuple[str, ...], start: str) -> str:
        period = "period, " if periods else ""
        columns = f"{period}start, key, {', '.join(names)}, {', '.join(SUMS)}"
        key = " || ".join(f"quote(NEW.{name})" for name in names)
        values = ", ".join(f"NEW.{name}" for name in names)
        return (
            f"INSERT INTO {table} ({columns}) "
            f"SELECT {period}{start}, {key}, {values}, {sums}{periods} WHERE true "
            f"ON CONFLICT ({period}start, key) DO UPDATE SET {_additions(table, SUMS)};"
        )

    hour = _floor("NEW.time", 3600)
    values = " UNION ALL ".join(f"SELECT {seconds} AS period" for seconds in _PERIODS)
    totals = insert("ledger_totals", f" FROM ({values})", _NAMES, f"{hour} - {hour} % period")
    models = insert("ledger_models", "", _MODEL_NAMES, hour)
    # A program that adds the rows of its transaction itself inserts this row.
    alone = "NOT EXISTS (SELECT 1 FROM ledger_state WHERE name = 'batch')"
    return (
        f"CREATE TRIGGER usage_sums AFTER INSERT ON usage WHEN {alone} BEGIN {totals} {models} END"
    )


def _additions(table: str, sums: dict[str, str]) -> str:
    return ", ".join(f"{name} = {table}.{name} + excluded.{name}" for name in sums)


def _floor(time: str, seconds: int) -> str:
    """The start of a period of fixed length; equal in both databases for times since 1970."""
    if op.get_bind().dialect.name == "sqlite":
        return f"CAST({time} / {seconds} AS INTEGER) * {seconds}"
    return f"floor({time} / {seconds})::bigint * {seconds}"
