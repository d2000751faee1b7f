"""The tables as they are now. Every change here comes with a migration, and a test compares them.

Times are Unix seconds, money is in nano-units of its currency, lists are JSON.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
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
"""One row per token. What is NULL sets no bound; `previous_*` is the secret before a rotation."""

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
    Index(None, "time"),
    Index(None, "token", "time"),
)
"""One row per request, by its request id."""
