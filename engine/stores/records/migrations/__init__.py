"""How the tables came to be, one step per file in versions/."""

from pathlib import Path

_VERSIONS = Path(__file__).parent / "versions"

HEAD = max(file.name.partition("_")[0] for file in _VERSIONS.glob("r[0-9]*.py"))
"""The last step. Tables that are there already are known by it, without Alembic being imported."""
