"""`modelway ledger ship`: a journal that was left behind comes into the database, once."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import text

from engine import cli
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.ledger.journal import Journal
from engine.stores.ledger_entry import Entry

_WRITER = """
import os, signal, sys
from pathlib import Path
from engine.stores.ledger_entry import Entry
from engine.stores.ledger.journal import Journal
journal = Journal(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    journal.append(Entry(id=f"req_{number}", time=1.0))
    if number % 400 == 399:
        journal.release()
os.kill(os.getpid(), signal.SIGKILL)
"""


def left_behind(folder: Path, rows: int) -> Path:
    """The journal of a process that was killed."""
    command = [sys.executable, "-c", _WRITER, str(folder), str(rows)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    return folder


def ship(folder: Path, url: str) -> Result:
    words = ("ledger", "ship", str(folder), "--database", url, "-c", "no-such-gateway.yaml")
    return CliRunner().invoke(cli.main, words)


@pytest.fixture
def url(records_url: str) -> str:
    database = open_database(records_url)
    upgrade(database)
    database.close()
    return records_url


def entered(url: str) -> int:
    database = open_database(url)
    count = database.read(lambda c: c.execute(text("SELECT count(*) FROM usage")).scalar())
    database.close()
    return int(count or 0)


def test_the_rows_of_a_killed_gateway_are_shipped(tmp_path: Path, url: str) -> None:
    folder = left_behind(tmp_path / "journal", 1000)
    result = ship(folder, url)
    assert (result.exit_code, entered(url)) == (0, 1000)
    assert result.output.startswith("1,000 rows shipped to ")
    assert list(folder.glob("*.rows")) == []


def test_shipped_rows_are_not_counted_twice(tmp_path: Path, url: str) -> None:
    folder = left_behind(tmp_path / "journal", 10)
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    assert ship(folder, url).exit_code == 0
    result = ship(copy, url)
    assert (result.exit_code, entered(url)) == (0, 10)
    assert "0 rows shipped to" in result.output
    assert "10 rows already in the database" in result.output
    again = ship(folder, url)
    assert again.exit_code == 0
    assert "no rows in" in again.output


def test_a_folder_in_use_is_refused(tmp_path: Path, url: str) -> None:
    folder = left_behind(tmp_path / "journal", 10)
    journal = Journal(folder)
    journal.append(Entry(id="of the living", time=1.0))
    result = ship(folder, url)
    journal.close()
    assert (result.exit_code, entered(url)) == (1, 0)
    assert "is in use: a running process locks" in result.output
    assert "stop it first" in result.output


def test_an_incomplete_line_is_skipped_and_reported(tmp_path: Path, url: str) -> None:
    folder = left_behind(tmp_path / "journal", 3)
    (file,) = folder.glob("*.rows")
    with file.open("ab") as end:
        end.write(b'["req_half", 17')
    result = ship(folder, url)
    assert (result.exit_code, entered(url)) == (0, 3)
    assert "1 incomplete line skipped" in result.output


def test_files_stay_while_the_database_is_unreachable(tmp_path: Path) -> None:
    folder = left_behind(tmp_path / "journal", 3)
    result = ship(folder, "postgresql+psycopg://me@127.0.0.1:1/x")
    assert result.exit_code == 1
    assert "does not answer" in result.output
    assert len(list(folder.glob("*.rows"))) == 1


def test_a_missing_database_is_not_created(tmp_path: Path) -> None:
    folder = left_behind(tmp_path / "journal", 3)
    result = ship(folder, f"sqlite:///{tmp_path}/typo.db")
    assert result.exit_code == 1
    assert "there is no database" in result.output
    assert len(list(folder.glob("*.rows"))) == 1


def test_a_folder_without_a_journal_is_reported(tmp_path: Path, url: str) -> None:
    result = ship(tmp_path, url)
    assert result.exit_code == 0
    assert "no files that end in .rows" in result.output
    assert ship(tmp_path / "typo", url).exit_code == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_cannot_be_read_is_reported(tmp_path: Path, url: str) -> None:
    folder = left_behind(tmp_path / "journal", 3)
    (file,) = folder.glob("*.rows")
    file.chmod(0)
    result = ship(folder, url)
    assert result.exit_code == 1
    assert "name a copy of the folder" in result.output


def test_json_has_the_counts(tmp_path: Path, url: str) -> None:
    folder = left_behind(tmp_path / "journal", 3)
    command = ["ledger", "ship", str(folder), "--database", url, "--json"]
    counts = json.loads(CliRunner().invoke(cli.main, command).stdout)
    assert (counts["new"], counts["duplicates"], counts["refusals"]) == (3, 0, 0)
