"""`modelway token list`: tokens for people and for programs, without secrets."""

import csv
import io
import json
import re

import pytest

from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database

pytestmark = pytest.mark.usefixtures("empty_folder")


def test_list_for_people_and_for_programs(on):
    on("create", "--name", "b", "--models", "x,y", "--rate", "60/1m", "--concurrency", "3")
    on("create", "--name", "a", "--expires", "2999-12-30", "--note", "old, with a comma")
    on("revoke", "a")
    table = on("list").stdout
    assert re.search(r"^a +revoked .*2999-12-31 +old, with a comma", table, re.MULTILINE)
    assert re.search(r"^b +active +x,y +60/1m, 3 at a time", table, re.MULTILINE)
    rows = json.loads(on("list", "--format", "json").stdout)
    assert [(row["name"], row["state"]) for row in rows] == [("a", "revoked"), ("b", "active")]
    assert rows[1]["models"] == ["x", "y"]
    assert rows[0]["models"] is None
    rows = list(csv.DictReader(io.StringIO(on("list", "--format", "csv").stdout)))
    assert [row["name"] for row in rows] == ["a", "b"]
    assert rows[1]["models"] == "x,y"
    assert rows[0]["note"] == "old, with a comma"


def test_an_empty_list(on, records_url):
    database = open_database(records_url)
    upgrade(database)
    database.close()
    assert on("list").stdout == ""
    assert "no tokens: create one" in on("list").stderr
    assert json.loads(on("list", "--format", "json").stdout) == []
    assert on("list", "--format", "csv").stdout == ""


def test_a_long_row_is_one_line_where_standard_output_is_no_terminal(local):
    models = [f"a-model-with-a-long-name-{number}" for number in range(20)]
    local("create", "--name", "shop", "--models", ",".join(models), "--note", "n " * 200)
    head, row = local("list").stdout.splitlines()
    assert ",".join(models) in row
    assert row.startswith("shop")
    assert head == head.rstrip()
