"""The first tables: tokens, and usage with one row per request."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "r0001"
down_revision: str | None = None


def upgrade() -> None:
    op.create_table(
        "tokens",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        *(sa.Column(name, sa.JSON) for name in ("models", "operations", "ips")),
        *(sa.Column(name, sa.Text) for name in ("rate", "token_budget", "budget")),
        sa.Column("concurrency", sa.Integer),
        sa.Column("created", sa.Double, nullable=False),
        *(sa.Column(name, sa.Double) for name in ("expires", "revoked")),
        sa.Column("previous_sha256", sa.Text),
        sa.Column("previous_until", sa.Double),
        sa.Column("note", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_tokens"),
        sa.UniqueConstraint("sha256", name="uq_tokens_sha256"),
        sa.UniqueConstraint("previous_sha256", name="uq_tokens_previous_sha256"),
    )
    op.create_table("usage", *_usage(), sa.PrimaryKeyConstraint("id", name="pk_usage"))
    op.create_index("ix_usage_time", "usage", ["time"])
    op.create_index("ix_usage_token_time", "usage", ["token", "time"])


def downgrade() -> None:
    op.drop_table("usage")
    op.drop_table("tokens")


def _usage() -> list[sa.Column[object]]:
    kinds: list[tuple[str, type]] = [
        ("id", sa.Text),
        ("time", sa.Double),
        *((name, sa.Text) for name in ("token", "operation", "model_asked", "model_served")),
        ("upstream", sa.Text),
        ("status", sa.Integer),
        ("outcome", sa.Text),
        *((name, sa.BigInteger) for name in ("input", "output", "cached", "reasoning", "images")),
        ("seconds", sa.Double),
        ("characters", sa.BigInteger),
        ("source", sa.Text),
        ("cost", sa.BigInteger),
        ("currency", sa.Text),
        ("first_byte", sa.Double),
        ("duration", sa.Double),
        *((name, sa.BigInteger) for name in ("bytes_in", "bytes_out")),
        ("stream", sa.Boolean),
        ("attempts", sa.Integer),
    ]
    return [sa.Column(name, kind, nullable=name == "first_byte") for name, kind in kinds]
