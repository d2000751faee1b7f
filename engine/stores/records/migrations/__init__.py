"""How the tables came to be, one step per file in versions/.

A step expands: what programs before it read and write goes on to work. One that does not, a
contraction, defines `oldest_program`: the first step whose program can use the tables after it.
"""

from pathlib import Path

_VERSIONS = Path(__file__).parent / "versions"

STEPS = tuple(sorted(file.name.partition("_")[0] for file in _VERSIONS.glob("r[0-9]*.py")))
HEAD = STEPS[-1]
"""The last step. Tables that are there already are known by it, without Alembic being imported."""

VERSION_TABLE = "schema_version"
"""The table with the last step that was taken. Programs up to r0003 read `alembic_version`, where
the oldest program that can use the tables stands since then."""

OLDEST_PROGRAM = "r0003"
"""The oldest program for new tables."""
