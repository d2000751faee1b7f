"""Files of exports are complete, or not there."""

import sys

from engine.cli.usage import row_export
from tests.support.exported_ledger import ROWS, run


def test_what_cannot_be_exported_says_why(ledger, monkeypatch):
    assert "--rows needs --format csv, json, parquet" in run("--rows").output
    assert "redirect" in run("--format", "csv", "-o", "x").output
    assert run("--left", "--rows", "--format", "csv").exit_code == 2
    message = run("--rows", "--format", "csv", "-o", "none/x").output
    assert "none/x cannot be written: No such file or directory" in message
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install 'modelway[parquet]'" in run("--rows", "--format", "parquet").output


def test_a_file_is_there_when_it_is_complete(ledger, monkeypatch):
    (ledger / "rows.csv").write_text("before")

    def fail(*args):
        yield [ROWS[0]]
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(row_export, "pages", fail)
    result = run("--rows", "--format", "csv", "-o", "rows.csv")
    assert "rows.csv cannot be written: No space left on device" in result.output
    assert (ledger / "rows.csv").read_text() == "before"
    assert {file.name for file in ledger.iterdir()} <= {"gateway.yaml", "u.db", "rows.csv",
                                                        "u.db-wal", "u.db-shm"}  # fmt: skip
