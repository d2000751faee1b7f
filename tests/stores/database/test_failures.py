"""The errors of the database, for those who only catch them."""

from __future__ import annotations

import subprocess
import sys

from engine.stores.database.failures import DatabaseAway


def test_a_broken_idle_connection_is_stale() -> None:
    assert not DatabaseAway("away").stale
    assert DatabaseAway("away", stale=True).stale


def test_who_catches_them_needs_no_sqlalchemy() -> None:
    """Workers do, and its memory is more than that of all their requests."""
    code = (
        "import sys, engine.callers.cache, engine.stores.database.failures\n"
        "print([name for name in ('sqlalchemy', 'alembic') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
