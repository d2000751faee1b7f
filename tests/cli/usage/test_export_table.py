"""The formats of exports."""

import csv
import io
import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from pyarrow import parquet

from engine.cli.usage.export_file import WRITERS
from engine.cli.usage.export_table import Column, Kind, decimal_of
from engine.stores.ledger_entry import Entry
from tests.support.exported_ledger import run

COLUMNS = [Column(kind.name.lower(), kind) for kind in Kind]
ROW = ("=x", 2**62, 0.5, False, 1_801_440_000.25, -1)
NOTHING = (None,) * len(Kind)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "csv",
            "text,count,number,flag,time,money\n"
            f"'=x,{2**62},0.5,false,2027-02-01T00:00:00.250000Z,-0.000000001\n,,,,,\n",
        ),
        (
            "json",
            f'{{"text":"=x","count":{2**62},"number":0.5,"flag":false,'
            '"time":"2027-02-01T00:00:00.250000Z","money":"-0.000000001"}\n'
            '{"text":null,"count":null,"number":null,"flag":null,"time":null,"money":null}\n',
        ),
    ],
)
def test_values_of_each_kind(name, text):
    file = io.BytesIO()
    WRITERS[name](file, COLUMNS, [[ROW], [NOTHING]])
    assert file.getvalue().decode() == text


def test_money_is_exact_beyond_the_precision_of_the_context():
    nano = 10**37 + 1
    assert f"{decimal_of(nano):f}".replace(".", "") == str(nano)


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


def test_rows_are_in_the_order_of_time_and_id(ledger):
    rows = [*csv.DictReader(io.StringIO(run("--rows", "--format", "csv").stdout))]
    assert [row["id"] for row in rows] == ["a", "b", "c"]
    assert [row["cost"] for row in rows] == ["4611686018.427387904", "1.500000001", "0.00"]
    assert rows[1]["vendor_cost"] == "1.500000002"
    assert (rows[2]["time"], rows[2]["token"]) == ("2027-02-01T00:00:00.250000Z", "'=cmd()")
    assert (rows[1]["stream"], rows[2]["first_byte"]) == ("true", "")


def test_a_line_of_json_is_a_row(ledger):
    rows = [*map(json.loads, run("--rows", "--format", "json").stdout.splitlines())]
    assert [(row["id"], row["cost"], row["stream"]) for row in rows][1] == (
        *("b", "1.500000001", True),
    )
    assert set(rows[0]) == {*Entry._fields, "vendor_cost"} - {"margin"}


@pytest.mark.parametrize(
    ("selection", "ids"), [(("--token", "ann"), ["a", "b"]), (("--team", "lab"), ["b"])]
)
def test_a_selection_applies(ledger, selection, ids):
    lines = run("--rows", "--format", "json", *selection).stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ids
