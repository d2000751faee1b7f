"""What a worker needs of a config with a database, without the database."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.paths import ROOT
from tests.support.small import project

_WORKER = """
import sys
from pathlib import Path
from engine.app.build import build
from engine.app.services.worker_services import services_of
from engine.plan.assembly.make_plan import make_plan
from engine.process.channel import Channel

plan = make_plan(Path(sys.argv[1]), {}).plan
channel = Channel() if sys.argv[2] == "recorder" else None
build(plan, services_of(plan, recorder=channel))
names = "sqlalchemy", "alembic", "sqlite3", "sqlalchemy.dialects.postgresql"
print([name for name in names if name in sys.modules])
"""


def imports(folder: Path, kind: str) -> str:
    """The libraries of the database that a worker has imported after its start."""
    text = project(
        folder,
        "http://127.0.0.1:9",
        {"chat": "[]"},
        more="stores: {records: 'sqlite:///records.db'}\n",
    )
    path = folder / "gateway.yaml"
    path.write_text(text.replace("{listen}", "127.0.0.1:1"))
    command = [sys.executable, "-c", _WORKER, str(path), kind]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def test_a_worker_beside_a_recorder_imports_no_library_of_the_database(tmp_path: Path) -> None:
    """Neither does the master, which has planned the config."""
    assert imports(tmp_path, "recorder") == "[]\n"


def test_a_worker_of_another_server_uses_the_database_itself(tmp_path: Path) -> None:
    assert imports(tmp_path, "none") == "['sqlalchemy', 'sqlite3']\n"
