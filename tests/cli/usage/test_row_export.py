"""`modelway usage --rows`."""

import csv
import io
import json

import pytest

from engine.stores.ledger_entry import Entry
from tests.support.exported_ledger import run


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
