"""Totals in Parquet."""

import io
from datetime import UTC, datetime
from decimal import Decimal

from pyarrow import parquet

from tests.support.exported_ledger import run


def test_totals_are_parquet_as_well(ledger):
    result = run("--by", "token", "--format", "parquet")
    assert result.exit_code == 0, result.output
    rows = parquet.read_table(io.BytesIO(result.stdout_bytes)).to_pylist()
    ann = next(row for row in rows if row["token"] == "ann")
    assert (ann["requests"], ann["currency"]) == (2, "USD")
    assert ann["cost"] == Decimal("4611686019.927387905")
    assert ann["vendor_cost"] - ann["cost"] == Decimal("1E-9")


def test_without_totals_there_are_columns(ledger):
    result = run("--token", "nobody", "--format", "parquet", "-o", "t.parquet")
    assert result.exit_code == 0, result.output
    assert parquet.read_table(ledger / "t.parquet").num_rows == 0


def test_sessions_have_times_in_parquet(ledger):
    result = run("--by", "session", "--format", "parquet", "-o", "s.parquet")
    assert result.exit_code == 0, result.output
    row = parquet.read_table(ledger / "s.parquet").to_pylist()[0]
    assert row["first"] == datetime(2027, 2, 1, tzinfo=UTC)
