"""What callers read of themselves: indexes for one token or one team, and the sums of their tags.

Expands: programs of older steps insert rows as before, and triggers add the tagged ones to
`ledger_tags`, by day and by eight days. A program of an older step deletes no old sums of tags; the
next newer one does. The sums of existing rows are computed later: those from before `tags_from` are
not in the table yet.

A day of one token, or of one team, is a few rows of `ledger_totals`, and the last requests of a
token are the end of an index: neither takes longer because others have sent more.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "r0013"
down_revision: str | None = "r0012"

_TOTALS_INDEX = ("ix_ledger_totals_team_period_start", "ledger_totals", "team, period, start")
_LEDGER_INDEX = "ix_ledger_token_time"

_NAMES = ("token", "team", "tags", "currency")
_SUMS = {
    "requests": "CASE WHEN outcome <> 'cancelled' THEN 1 ELSE 0 END",
    "failed": (
        "CASE WHEN outcome NOT IN ('caller_left', 'cancelled') "
        "AND (outcome <> 'complete' OR status >= 400) THEN 1 ELSE 0 END"
    ),
    **{name: name for name in ("input", "output", "cached")},
    "cost_high": "cost >> 32",
    "cost_low": "cost & 4294967295",
}
"""The columns of sums, and what one row adds to each."""
_COLUMNS = ("tags", "currency", "time", "outcome", "status", "input", "output", "cached", "cost")
_DAY = 86_400
_PERIODS = f"(SELECT {_DAY} AS period UNION ALL SELECT {8 * _DAY}) AS periods"
_HOLDERS = "(SELECT 1 AS of_token UNION ALL SELECT 0) AS holders"
_HOLDER = {
    "token": "CASE WHEN of_token = 1 THEN token ELSE '' END",
    "team": "CASE WHEN of_token = 1 THEN '' ELSE team END",
}
"""Each row counts for its token and for its team, in sums of each: a team has many tokens."""
_INDEXES = ("token", "team")


def upgrade() -> None:
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    if is_postgresql:
        _index_months()
        # Between `tags_from` and the trigger no row may be inserted.
        op.execute("LOCK TABLE ledger IN SHARE ROW EXCLUSIVE MODE")
    else:
        op.execute("CREATE INDEX {} ON {} ({})".format(*_TOTALS_INDEX))
    _create_table()
    if is_postgresql:
        op.execute("ALTER TABLE ledger_tags SET (fillfactor = 70)")
    op.execute(
        "INSERT INTO ledger_state SELECT 'tags_from', CASE WHEN max(time) IS NULL THEN 0 "
        f"ELSE {_floor('max(time)', str(_DAY))} + {_DAY} END FROM ledger"
    )
    op.execute(_postgresql_function() if is_postgresql else _sqlite_trigger())
    if is_postgresql:
        op.execute(
            "CREATE TRIGGER ledger_tag_sums AFTER INSERT ON ledger "
            "REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT "
            "EXECUTE FUNCTION ledger_add_tags()"
        )


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP TRIGGER ledger_tag_sums ON ledger")
        op.execute("DROP FUNCTION ledger_add_tags()")
        op.execute(f"DROP INDEX {_LEDGER_INDEX}")
        # The index of the first partition was there before.
        op.execute("CREATE INDEX ix_usage_token_time ON usage (token, time)")
    else:
        op.execute("DROP TRIGGER usage_tag_sums")
    op.drop_table("ledger_tags")
    op.execute("DELETE FROM ledger_state WHERE name = 'tags_from'")
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


def _create_table() -> None:
    op.create_table(
        "ledger_tags",
        sa.Column("period", sa.Integer, nullable=False),
        sa.Column("start", sa.BigInteger, nullable=False),
        sa.Column("key", sa.LargeBinary, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in _NAMES),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in _SUMS),
        sa.PrimaryKeyConstraint("period", "start", "key", name="pk_ledger_tags"),
        sqlite_with_rowid=False,
    )
    for name in _INDEXES:
        index = f"ix_ledger_tags_{name}_period_start"
        op.create_index(index, "ledger_tags", [name, "period", "start"])


def _floor(time: str, period: str) -> str:
    """The start of the period of a time; equal in both databases for times since 1970."""
    if op.get_bind().dialect.name == "sqlite":
        return f"CAST({time} / {period} AS INTEGER) * {period}"
    return f"floor({time} / {period})::bigint * {period}"


def _insert(rows: str, key: str) -> str:
    """The statement that adds the tagged ones of some rows, in the order of the keys, so that there
    is no deadlock. Rows from before `tags_from` are added later, as those that there were."""
    names = ", ".join(_NAMES)
    sums = ", ".join(f"sum({expression})" for expression in _SUMS.values())
    columns = ", ".join((*(f"{text} AS {name}" for name, text in _HOLDER.items()), *_COLUMNS))
    start = _floor("time", "period")
    added = ", ".join(f"{name} = ledger_tags.{name} + excluded.{name}" for name in _SUMS)
    return (
        f"INSERT INTO ledger_tags (period, start, key, {names}, {', '.join(_SUMS)}) "
        f"SELECT period, {start} AS start, {key} AS key, {names}, {sums} "
        f"FROM (SELECT {columns}, period FROM {rows} CROSS JOIN {_HOLDERS} CROSS JOIN {_PERIODS}) "
        "AS counted WHERE tags <> '' AND (token <> '' OR team <> '') "
        "AND time >= (SELECT value FROM ledger_state WHERE name = 'tags_from') "
        f"GROUP BY period, {start}, {names} ORDER BY 1, 2, 3 "
        f"ON CONFLICT (period, start, key) DO UPDATE SET {added}"
    )


def _postgresql_function() -> str:
    key = f"substring(sha256(convert_to(ROW({', '.join(_NAMES)})::text, 'UTF8')) FOR 16)"
    return (
        "CREATE FUNCTION ledger_add_tags() RETURNS trigger LANGUAGE plpgsql SET search_path FROM "
        f"CURRENT AS $$ BEGIN {_insert('new_rows', key)}; RETURN NULL; END $$"
    )


def _sqlite_trigger() -> str:
    """Sums of each row: a tagged row is added at once, unlike to the other sums."""
    row = ", ".join(f"NEW.{name} AS {name}" for name in ("token", "team", *_COLUMNS))
    key = " || ".join(f"quote({name})" for name in _NAMES)
    insert = _insert(f"(SELECT {row})", key)
    when = "WHEN NEW.tags <> ''"
    return f"CREATE TRIGGER usage_tag_sums AFTER INSERT ON usage {when} BEGIN {insert}; END"
