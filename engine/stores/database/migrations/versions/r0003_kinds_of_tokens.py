"""Kinds of tokens with a price of their own, and the source of the price."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "r0003"
down_revision: str | None = "r0002"

_COUNTS = (
    *("cache_write", "cache_write_1h", "audio_input", "cached_audio"),
    *("audio_output", "image_input", "cached_image", "image_output"),
)


def upgrade() -> None:
    for name in _COUNTS:
        column = sa.Column(name, sa.BigInteger, nullable=False, server_default="0")
        op.add_column("usage", column)
    none = sa.text("''")
    op.add_column("usage", sa.Column("price", sa.Text, nullable=False, server_default=none))


def downgrade() -> None:
    for name in ("price", *reversed(_COUNTS)):
        op.drop_column("usage", name)
