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
)
"""One row per token. NULL sets no bound; `previous_*` is the secret before a rotation."""

usage = Table(
    "usage",
    metadata,
    Column("id", Text, primary_key=True),
    Column("time", Double, nullable=False),
    Column("token", Text, nullable=False),
    Column("operation", Text, nullable=False),
    Column("model_asked", Text, nullable=False),
    Column("model_served", Text, nullable=False),
    Column("upstream", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("input", BigInteger, nullable=False),
    Column("output", BigInteger, nullable=False),
    Column("cached", BigInteger, nullable=False),
    Column("reasoning", BigInteger, nullable=False),
    Column("images", BigInteger, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("characters", BigInteger, nullable=False),
    Column("source", Text, nullable=False),
    Column("cost", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("first_byte", Double),
    Column("duration", Double, nullable=False),
    Column("bytes_in", BigInteger, nullable=False),
    Column("bytes_out", BigInteger, nullable=False),
    Column("stream", Boolean, nullable=False),
    Column("attempts", Integer, nullable=False),
    *(
        Column(name, BigInteger, nullable=False, server_default="0")
        for name in ("cache_write", "cache_write_1h", "audio_input", "cached_audio")
    ),
    *(
        Column(name, BigInteger, nullable=False, server_default="0")
        for name in ("audio_output", "image_input", "cached_image", "image_output")
    ),
    Column("price", Text, nullable=False, server_default=text("''")),
    Column("team", Text, nullable=False, server_default=text("''")),
    Index(None, "time"),
    Index(None, "token", "time"),
)
"""One row per request, by its request id. In PostgreSQL it is the first partition of `ledger`."""

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

COUNTS = (
    *("input", "output", "cached", "reasoning", "cache_write", "audio_input", "audio_output"),
    *("image_input", "image_output", "images", "characters"),
)
"""Columns of the ledger whose sums have the same name."""

COST_BITS = 32
"""A cost has 64 bits, and a sum may need more: `cost_high` is the sum of `cost >> 32`, `cost_low`
that of the lower 32 bits."""


def _sums() -> list[Column[Any]]:
    names = ("requests", "failed", *COUNTS, "cost_high", "cost_low", "first_byte_count")
    integers = [Column(name, BigInteger, nullable=False) for name in names]
    return [*integers, Column("first_byte_sum", Double, nullable=False)]


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

ledger_state = Table(
    "ledger_state",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Double, nullable=False),
)
"""`totals_from`: the sums are complete from this time on. `rows_from`: the retention has deleted
older rows. Times are whole hours."""
