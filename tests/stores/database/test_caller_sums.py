"""The sums of one token or one team, and of nobody else."""

from __future__ import annotations

import time

import pytest

from engine.stores.database.caller_sums import CallerSums
from engine.stores.database.database import open_database
from engine.stores.database.migrate import upgrade
from engine.stores.database.usage import UsageTable
from engine.stores.ledger_entry import Entry

NOW = time.time()
ROWS = [
    Entry("1", NOW - 10, "ann", model_asked="one", team="search", input=5, cost=10, currency="USD"),
    Entry("2", NOW - 9, "ben", model_asked="one", team="search", output=2, cost=5, currency="USD"),
    Entry("3", NOW - 8, "cid", model_asked="two", team="ads", cost=99, currency="USD"),
    Entry("4", NOW - 7, "ann", team="search"),
    Entry("5", NOW - 90_000, "ann", model_asked="two", team="search", input=7),
]


@pytest.fixture
def sums(tmp_path):
    database = open_database(f"sqlite:///{tmp_path}/usage.db")
    upgrade(database)
    UsageTable(database).insert(ROWS)
    yield CallerSums(database).sums
    database.close()


def test_a_token_has_its_own_rows(sums):
    result = sums("ann", "", NOW - 3600, NOW)
    assert [(m["model"], m["requests"], m["cost"]) for m in result["models"]] == [
        ("one", 1, {"USD": 10})
    ]
    assert sum(day["requests"] for day in result["days"]) == 2


def test_a_team_has_those_of_its_members(sums):
    result = sums("", "search", NOW - 3600, NOW)
    assert [(m["model"], m["input_tokens"], m["output_tokens"]) for m in result["models"]] == [
        ("one", 5, 2)
    ]


def test_days_are_apart(sums):
    result = sums("ann", "", NOW - 2 * 86_400, NOW)
    assert [day["input_tokens"] for day in result["days"]] == [7, 5]


@pytest.mark.parametrize(("token", "team"), [("", ""), ("ann", "search")])
def test_the_sums_of_everybody_cannot_be_asked_for(sums, token, team):
    with pytest.raises(ValueError, match="one token or of one team"):
        sums(token, team, 0.0, NOW)
