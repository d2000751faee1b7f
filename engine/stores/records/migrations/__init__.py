"""How the tables came to be, one step per file in versions/."""

HEAD = "r0001"
"""The last step. Tables that are there already are known by it, without Alembic being imported."""
