"""Files of exports are complete, or not there."""

import sys
from datetime import UTC, datetime
from decimal import Decimal

from pyarrow import parquet

from engine.cli.usage import export_table
from engine.stores.database.usage import pages
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

    monkeypatch.setattr(export_table, "pages", fail)
    result = run("--rows", "--format", "csv", "-o", "rows.csv")
    assert "rows.csv cannot be written: No space left on device" in result.output
    assert (ledger / "rows.csv").read_text() == "before"
    assert {file.name for file in ledger.iterdir()} <= {"gateway.yaml", "u.db", "rows.csv",
                                                        "u.db-wal", "u.db-shm"}  # fmt: skip


def test_parquet_has_exact_money_and_times(ledger, monkeypatch):
    monkeypatch.setattr(export_table, "pages", lambda *args: pages(*args, size=2))
    result = run("--rows", "--format", "parquet", "-o", "rows.parquet")
    assert (result.exit_code, result.output) == (0, "")
    file = parquet.ParquetFile(ledger / "rows.parquet")
    assert [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)] == [2, 1]
    rows = file.read().to_pylist()
    assert [row["cost"] for row in rows] == [
        *(Decimal("4611686018.427387904"), Decimal("1.500000001"), Decimal("0E-9")),
    ]
    assert rows[1]["vendor_cost"] == Decimal("1.500000002")
    assert rows[2]["time"] == datetime(2027, 2, 1, 0, 0, 0, 250_000, UTC)
    assert rows[2]["token"] == "=cmd()", "Parquet is not for spreadsheets"
    assert [row["first_byte"] for row in rows] == [None, 0.5, None]


def test_without_rows_there_is_a_file_with_the_columns(ledger):
    assert run("--rows", "--format=parquet", "-o", "x", "--token", "nobody").exit_code == 0
    table = parquet.read_table(ledger / "x")
    assert (table.num_rows, table.column_names[0]) == (0, "id")
