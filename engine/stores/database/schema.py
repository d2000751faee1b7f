"""The current tables. Each change here needs a migration; a test compares the two.

Times are Unix seconds, money is in nano-units of its currency, lists are JSON.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)

from engine.stores.ledger_entry import SMALL, TYPES, Entry
from engine.values.usage import COUNTS, PIECES

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


def _list() -> JSON:
    return JSON(none_as_null=True)


tokens = Table(
    "tokens",
    metadata,
    Column("name", Text, primary_key=True),
    Column("sha256", Text, nullable=False, unique=True),
    Column("models", _list()),
    Column("operations", _list()),
    Column("ips", _list()),
    Column("rate", Text),
    Column("token_budget", Text),
    Column("budget", Text),
    Column("concurrency", Integer),
    Column("created", Double, nullable=False),
    Column("expires", Double),
    Column("revoked", Double),
    Column("previous_sha256", Text, unique=True),
    Column("previous_until", Double),
    Column("note", Text, nullable=False),
    Column("team", Text),
    Column("priority", Text),
    Column("warn_at", _list()),
)
"""One row per token. NULL sets no bound; `previous_*` is the secret before a rotation."""

_COLUMN_TYPES = {str: Text, int: BigInteger, float: Double, float | None: Double, bool: Boolean}
_SINCE_VERSION_3 = Entry._fields[Entry._fields.index("attempts") + 1 :]
"""The columns that migrations have added: rows from before have 0 or "" there."""


def _column(name: str, kind: Any) -> Column[Any]:
    """The column of a field of `Entry`."""
    default = text("''") if kind is str else "0"
    return Column(
        name,
        Integer if name in SMALL else _COLUMN_TYPES[kind],
        primary_key=name == "id",
        nullable=kind == float | None,
        server_default=default if name in _SINCE_VERSION_3 else None,
    )


usage = Table(
    "usage",
    metadata,
    *(_column(name, kind) for name, kind in TYPES.items()),
    Index(None, "time"),
    Index(None, "token", "time"),
)
"""One row per request, an `Entry`, by its request id. In PostgreSQL it is the first partition of
`ledger`."""

ledger = Table("ledger", MetaData(), *(Column(c.name, c.type) for c in usage.columns))
"""All rows: in PostgreSQL a table with one partition for each month, in SQLite a view of `usage`.
Rows with the same id and the same time are one row."""

ledger_unsummed = Table("ledger_unsummed", MetaData(), Column("id", Text, primary_key=True))
"""SQLite: the ids of the rows that are not in the sums yet."""

ledger_unsummed_rows = Table(
    "ledger_unsummed_rows", MetaData(), *(Column(c.name, c.type) for c in usage.columns)
)
"""SQLite: a view of these rows."""

NAMES = (
    *("token", "team", "operation", "model_asked", "model_served", "upstream"),
    *("status", "outcome", "price", "currency"),
)
"""The columns by which the sums of `ledger_totals` are grouped."""

MODEL_NAMES = ("model_asked", "model_served", "currency")
"""The columns by which the sums of `ledger_models` are grouped."""

_WITHOUT_SUM = ("cache_write_1h", "cached_audio", "cached_image", "seconds", "searches")
_TOKENS = tuple(name for name in COUNTS if name not in PIECES)
SUMMED_COUNTS = tuple(name for name in (*_TOKENS, *PIECES) if name not in _WITHOUT_SUM)
"""Columns of the ledger whose sums have the same name."""

COST_BITS = 32
"""A cost has 64 bits, and a sum may need more: `cost_high` is the sum of `cost >> 32`, `cost_low`
that of the lower 32 bits."""

MARGINS = ("margin_high", "margin_low")
"""The sums of `margin`, in the same way."""


def _sums() -> list[Column[Any]]:
    names = ("requests", "failed", *SUMMED_COUNTS, "cost_high", "cost_low", "first_byte_count")
    integers = [Column(name, BigInteger, nullable=False) for name in names]
    added = [Column(n, BigInteger, nullable=False, server_default="0") for n in MARGINS]
    return [*integers, Column("first_byte_sum", Double, nullable=False), *added]


def _names(names: tuple[str, ...]) -> list[Column[Any]]:
    return [Column(name, usage.c[name].type, nullable=False) for name in names]


ledger_totals = Table(
    "ledger_totals",
    metadata,
    Column("period", Integer, primary_key=True, autoincrement=False),
    Column("start", BigInteger, primary_key=True, autoincrement=False),
    Column("key", LargeBinary, primary_key=True),
    *_names(NAMES),
    *_sums(),
    Index(None, "token", "period", "start"),
    Index(None, "team", "period", "start"),
    sqlite_with_rowid=False,
)
"""Sums of the rows of a period by all `NAMES`; `key` is a hash or text of these. A period has
`period` seconds (an hour, a day or 32 days) from `start` on. In PostgreSQL triggers update the sums
in the transaction that inserts a row; in SQLite see `ledger_unsummed`."""

ledger_models = Table(
    "ledger_models",
    metadata,
    Column("start", BigInteger, primary_key=True, autoincrement=False),
    Column("key", LargeBinary, primary_key=True),
    *_names(MODEL_NAMES),
    *_sums(),
    sqlite_with_rowid=False,
)
"""Sums by hour and `MODEL_NAMES` only: few rows, for reports by day."""

TAG_NAMES = ("token", "team", "tags", "currency")
"""The columns by which the sums of `ledger_tags` are grouped."""

TAG_SUMS = ("requests", "failed", "input", "output", "cached", "cost_high", "cost_low")

ledger_tags = Table(
    "ledger_tags",
    metadata,
    Column("period", Integer, primary_key=True, autoincrement=False),
    Column("start", BigInteger, primary_key=True, autoincrement=False),
    Column("key", LargeBinary, primary_key=True),
    *_names(TAG_NAMES),
    *(Column(name, BigInteger, nullable=False) for name in TAG_SUMS),
    Index(None, "token", "period", "start"),
    Index(None, "team", "period", "start"),
    sqlite_with_rowid=False,
)
"""Sums of the rows with tags by TAG_PERIODS and `TAG_NAMES`, for callers: one for the token, whose
team is "", and one for the team. Triggers update them in the transaction that inserts a row, in
SQLite too."""

stored_responses = Table(
    "stored_responses",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("expires", Double, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Index(None, "expires"),
)
"""Stored responses with the conversation before them, encrypted; `key` is a hash of whose and which
one it is."""

batches = Table(
    "batches",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)
"""Who made a batch and what its models are called, by a hash of which one it is or of a file of
it."""

batch_results = Table(
    "batch_results",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("claim", LargeBinary, nullable=False),
)
"""The results of batches that are in the ledger, by a hash of the batch and the name of the
request; `claim` is that of the reading that has counted it."""

ledger_state = Table(
    "ledger_state",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Double, nullable=False),
)
"""`totals_from`, `tags_from`: the sums, and those of tags, are complete from this time on.
`rows_from`: the retention has deleted older rows. Times are whole hours."""
