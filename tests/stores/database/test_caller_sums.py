"""The sums and requests of one token or one team, and of nobody else, in both databases."""

from __future__ import annotations

import time

import pytest

from engine.exchange.request_record import CANCELLED
from engine.stores.database.caller_sums import MAX_ROWS, CallerSums
from engine.stores.database.usage import UsageTable
from engine.stores.ledger_entry import Entry

DAY = 86_400
TODAY = int(time.time()) // DAY * DAY
NOON = TODAY + DAY / 2
ACME, LAB = '{"customer":"acme"}', '{"customer":"lab","project":"p"}'
ROWS = [
    Entry("1", NOON - 10, "ann", team="search", model_asked="one", input=5, cost=10, tags=ACME),
    Entry("2", NOON - 9, "ben", team="search", model_asked="one", output=2, cost=5, tags=LAB),
    Entry("3", NOON - 8, "cid", team="ads", model_asked="two", cost=99, tags=ACME),
    Entry("4", NOON - 7, "ann", team="search", status=500),
    Entry("5", NOON - DAY, "ann", team="search", model_asked="two", input=7, tags=ACME),
    Entry("6", NOON - 6, "ann", team="search", model_asked="one", outcome=CANCELLED, tags=ACME),
]
ROWS = [row._replace(currency="USD") for row in ROWS]


@pytest.fixture
def table(records):
    table = UsageTable(records)
    table.insert(ROWS)
    assert table.insert(ROWS[:2]) == 0  # a row that is there is added to no sum again
    return table


@pytest.fixture
def caller_sums(table):
    return CallerSums(table.database)


@pytest.fixture
def sums(caller_sums):
    def sums(by, token="", team="", days=1):
        rows = caller_sums.sums(by, token, team, float(TODAY - (days - 1) * DAY), TODAY + DAY)
        return [(row[by.partition(":")[0].replace("tag", "value")], row) for row in rows]

    return sums


def counts(rows):
    return {key: row["requests"] for key, row in rows}


def test_a_token_has_its_own_rows(sums):
    assert counts(sums("model", "ann")) == {"one": 1}
    assert [row["requests"] for _, row in sums("day", "ann")] == [2]
    assert dict(sums("model", "ann"))["one"]["cost"] == {"USD": 10}


def test_a_team_has_those_of_its_members(sums):
    ((_, row),) = sums("model", team="search")
    assert (row["input_tokens"], row["output_tokens"], row["cost"]) == (5, 2, {"USD": 15})


def test_days_are_apart(sums):
    assert [row["input_tokens"] for _, row in sums("day", "ann", days=2)] == [7, 5]


def test_tags_of_a_token(sums):
    assert counts(sums("tag:customer", "ann", days=2)) == {"acme": 2}
    assert sums("tag:project", "ann", days=2) == []


def test_tags_of_a_team_have_those_of_no_other(sums):
    assert counts(sums("tag:customer", team="search")) == {"acme": 1, "lab": 1}
    assert dict(sums("tag:customer", team="search"))["acme"]["cost"] == {"USD": 10}
    assert counts(sums("tag:project", team="search")) == {"p": 1}


def test_most_rows_are_bounded_and_the_others_summed(sums, table):
    names = [f"m{number}" for number in range(MAX_ROWS + 20)]
    table.insert([Entry(f"x{name}", NOON, "dan", model_asked=name, cost=1) for name in names])
    rows = sums("model", "dan")
    assert (len(rows), rows[-1][0], rows[-1][1]["requests"]) == (MAX_ROWS, "(others)", 21)


@pytest.mark.parametrize("value", ["' OR 1=1 --", "%", "ann\0", "search' UNION SELECT", ""])
def test_names_are_values_never_statements(caller_sums, value):
    for by in ("day", "model", "tag:customer", f"tag:{value}"):
        if value:
            assert caller_sums.sums(by, value.strip("\0") + "x", "", 0.0, TODAY + DAY) == []
            assert caller_sums.sums(by, "", value.strip("\0") + "x", 0.0, TODAY + DAY) == []


def test_requests_are_those_of_the_token_the_last_one_first(caller_sums):
    rows = caller_sums.requests("ann", "", 9)
    assert [row["id"] for row in rows] == ["4", "1", "5"]
    assert (rows[1]["cost"], rows[1]["tags"]) == ({"USD": 10}, {"customer": "acme"})
    assert [row["id"] for row in caller_sums.requests("ann", "4", 1)] == ["1"]
    assert caller_sums.requests("nobody", "", 9) == []


def test_requests_of_the_same_moment_are_listed_once(caller_sums, table):
    table.insert([Entry(f"s{number}", NOON + 1 / 3, "dan") for number in range(9)])
    found, after = [], ""
    while rows := caller_sums.requests("dan", after, 2):
        found += [row["id"] for row in rows]
        after = found[-1]
    assert found == [f"s{number}" for number in range(8, -1, -1)]


@pytest.mark.parametrize("after", ["3", "nothing", "' OR '1'='1"])
def test_nothing_follows_a_request_of_somebody_else(caller_sums, after):
    assert caller_sums.requests("ann", after, 9) is None


def test_requests_say_nothing_of_upstreams(caller_sums, table):
    table.insert([Entry("9", NOON, "dan", upstream="main", model_served="gpt", bytes_in=7)])
    (row,) = caller_sums.requests("dan", "", 9)
    assert {"upstream", "model_served", "served", "client", "session"}.isdisjoint(row)


@pytest.mark.parametrize(("token", "team"), [("", ""), ("ann", "search")])
def test_the_sums_of_everybody_cannot_be_asked_for(caller_sums, token, team):
    with pytest.raises(ValueError, match="one token or of one team"):
        caller_sums.sums("day", token, team, 0.0, TODAY)


def test_the_requests_of_everybody_cannot_be_asked_for(caller_sums):
    with pytest.raises(ValueError, match="those of one token"):
        caller_sums.requests("", "", 9)
