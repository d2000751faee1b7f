"""The migrations of the tables, one step per file in versions/.

A step expands: older programs can still read and write the tables. A step that does not, a
contraction, defines `oldest_program`: the first step whose program can use the tables after it.
"""

from pathlib import Path

_VERSIONS = Path(__file__).parent / "versions"

STEPS = tuple(sorted(file.name.partition("_")[0] for file in _VERSIONS.glob("r[0-9]*.py")))
HEAD = STEPS[-1]
"""The last step. Tables of this version are recognised without importing Alembic."""

VERSION_TABLE = "schema_version"
"""The table with the last step. Programs up to r0003 read `alembic_version`; since then that has
the oldest program that can use the tables."""

OLDEST_PROGRAM = "r0003"
"""The oldest program that can use new tables."""
