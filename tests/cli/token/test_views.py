"""`modelway token list` and `show`: tokens for people and for programs, without secrets."""

import csv
import io
import json
import re

import pytest

from engine.stores.records.database import open_database
from engine.stores.records.migrate import upgrade
from engine.values.caller import digest

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


def test_show_prints_everything_except_the_secret(local):
    secret = local("create", "--name", "shop", "--models", "gpt-4o*").stdout.strip()
    output = local("show", "shop").stdout
    assert re.search(r"^state +active$", output, re.MULTILINE)
    assert re.search(r"^models +gpt-4o\*$", output, re.MULTILINE)
    assert re.search(r"^operations +all$", output, re.MULTILINE)
    assert re.search(r"^expires +never$", output, re.MULTILINE)
    assert secret not in output


def test_an_expired_token_has_that_state(local):
    line = {"name": "old", "sha256": digest("the secret s"), "expires": 5}
    local("import", "-", input=json.dumps(line))
    assert re.search(r"^state +expired$", local("show", "old").stdout, re.MULTILINE)
