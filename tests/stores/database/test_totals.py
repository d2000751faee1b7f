"""Adding the ledger up, exactly, on both kinds of database."""

from zoneinfo import ZoneInfo

import pytest

from engine.stores.database.schema import SUMMED_COUNTS
from engine.stores.database.sums import UsageFilter
from engine.stores.database.totals import (
    KINDS,
    Total,
    distinct_values,
    existing_ids,
    totals,
)
from engine.stores.database.usage import UsageTable
from engine.stores.ledger_entry import Entry, decode, encode
from engine.values.usage import Usage

DAY = 86_400.0
ALL = UsageFilter(0.0, 1e12)
GPT = {"model_asked": "gpt-4o", "model_served": "gpt-4o-2024", "upstream": "openai"}
CLAUDE = {"model_asked": "gpt-4o", "model_served": "claude", "upstream": "anthropic"}
MONEY = {"currency": "USD", "cost": 1}
ENTRIES = [
    Entry("1", 0.0, "a", "chat", **GPT, **MONEY, status=200, input=10, output=5, first_byte=1.0),
    Entry("2", DAY - 0.5, "a", "chat", **GPT, **MONEY, status=200, cached=3, first_byte=2.0),
    Entry("3", DAY, "b", "chat", **CLAUDE, currency="USD", cost=2**53 + 1, status=200),
    Entry("4", DAY + 1, "b", "embed", currency="USD", status=429, outcome="refused"),
    Entry("5", DAY + 2, "b", "chat", **GPT, currency="EUR", cost=7, outcome="upstream_cut"),
    Entry("6", 2 * DAY, "a", "chat", **GPT, currency="USD", status=404),
    Entry("7", 2 * DAY, "a", "chat", **GPT, currency="USD", status=499, outcome="caller_left"),
]


@pytest.fixture
def database(records):
    UsageTable(records).insert([decode(encode(entry)) for entry in ENTRIES])
    return records


def test_the_vendors_cost_is_summed_beside_the_cost(records):
    huge = 2**62
    rows = [
        Entry("1", 0.0, "a", currency="USD", cost=huge, margin=huge - 1),
        Entry("2", 1.0, "a", currency="USD", cost=huge, margin=-3),
        Entry("3", 2.0, "a", currency="USD", cost=0, margin=-(2**40)),
    ]
    table = UsageTable(records)
    table.insert(rows)
    for _ in range(2):  # read from the rows, then from the sums
        (total,) = totals(records, "token", ALL)
        assert total.cost == {"USD": 2 * huge}
        assert total.vendor_cost == {"USD": huge + 4 + 2**40}
        while table.fill():
            pass


def requests_by(database, by, where=ALL):
    return {t.key: (t.requests, t.failed) for t in totals(database, by, where)}


def test_every_kind_of_total(database):
    assert requests_by(database, "token") == {"a": (4, 1), "b": (3, 2)}
    assert requests_by(database, "model") == {"gpt-4o": (6, 2), "": (1, 1)}
    assert requests_by(database, "served") == {"gpt-4o-2024": (5, 2), "claude": (1, 0), "": (1, 1)}
    assert requests_by(database, "upstream") == {"openai": (5, 2), "anthropic": (1, 0), "": (1, 1)}
    assert requests_by(database, "operation") == {"chat": (6, 2), "embed": (1, 1)}
    assert requests_by(database, "status") == {
        "200": (3, 0),
        "0": (1, 1),
        "404": (1, 1),
        "429": (1, 1),
        "499": (1, 0),
    }
    assert requests_by(database, "outcome")["caller_left"] == (1, 0)


def test_a_cancelled_attempt_is_no_request(database):
    attempt = Entry("1.2", 1.0, "a", "chat", **CLAUDE, currency="USD", outcome="cancelled")
    other = attempt._replace(id="1.3", upstream="other")
    before = {by: requests_by(database, by) for by in KINDS}
    UsageTable(database).insert([decode(encode(entry)) for entry in (attempt, other)])
    assert {by: requests_by(database, by) for by in KINDS} == before


def test_what_a_cancelled_attempt_cost_is_in_the_sums(database):
    attempt = Entry("1.2", 1.0, "a", "chat", **CLAUDE, **MONEY, outcome="cancelled")
    UsageTable(database).insert([decode(encode(attempt))])
    (cancelled,) = [t for t in totals(database, "outcome", ALL) if t.key == "cancelled"]
    assert (cancelled.requests, cancelled.failed, cancelled.cost) == (0, 0, {"USD": 1})


def test_days_are_in_order_and_of_utc(database):
    assert [(t.key, t.requests) for t in totals(database, "day", ALL)] == [
        ("1970-01-01", 2),
        ("1970-01-02", 3),
        ("1970-01-03", 2),
    ]


AGENTS = [
    Entry("a1", 10.0, "a", client="claude", client_version="2.1", session="s", input=100, cached=90,
          cost=5, currency="USD", duration=2.0),
    Entry("a2", 50.0, "a", client="claude", client_version="2.2", session="s", input=100, cost=5,
          currency="USD", duration=4.5),
    Entry("b1", 20.0, "b", client="claude", client_version="2.1", session="s", cost=1,
          currency="EUR"),
    Entry("c1", 30.0, "b", client="codex", session="t", cost=1, currency="USD", via="mcp"),
]  # fmt: skip


def agents(records):
    UsageTable(records).insert([decode(encode(entry)) for entry in AGENTS])
    return records


def test_sessions_are_those_of_one_token_with_their_times(records):
    first, second, third = totals(agents(records), "session", ALL)
    assert (first.key, first.token, first.client, first.requests) == ("s", "a", "claude", 2)
    assert (first.first, first.last, first.usage) == (10.0, 54.5, Usage(200, 0, 90))
    assert [(t.key, t.token, t.cost) for t in (second, third)] == [
        ("s", "b", {"EUR": 1}),
        ("t", "b", {"USD": 1}),
    ]


def test_clients_are_totals_with_and_without_their_versions(records):
    assert requests_by(agents(records), "client") == {"claude": (3, 0), "codex": (1, 0)}
    assert requests_by(records, "client_version") == {
        "claude/2.1": (2, 0),
        "claude/2.2": (1, 0),
        "codex": (1, 0),
    }


def test_what_is_not_listed_is_summed(records):
    agents(records)
    listed = totals(records, "session", ALL, most=1)
    assert [(t.key, t.requests, t.cost) for t in listed] == [
        ("s", 2, {"USD": 10}),
        ("(others)", 2, {"EUR": 1, "USD": 1}),
    ]
    assert sum(listed, Total()).cost == sum(totals(records, "token", ALL), Total()).cost


def test_calls_of_tools_are_told_from_other_requests(records):
    assert requests_by(agents(records), "via") == {"": (3, 0), "mcp": (1, 0)}
    assert requests_by(records, "token", UsageFilter(0.0, 1e12, via="mcp")) == {"b": (1, 0)}


def test_any_grouping_takes_the_rows_of_a_client_or_session(records):
    agents(records)
    session = UsageFilter(0.0, 1e12, session="s")
    assert requests_by(records, "token", session) == {"a": (2, 0), "b": (1, 0)}
    assert requests_by(records, "day", session) == {"1970-01-01": (3, 0)}
    codex = UsageFilter(0.0, 1e12, client="codex")
    assert requests_by(records, "session", codex) == {"t": (1, 0)}
    assert requests_by(records, "token", UsageFilter(0.0, 1e12, "a", client="codex")) == {}


def test_sums_are_exact_for_each_currency(database):
    a, b = totals(database, "token", ALL)
    assert (a.usage, a.first_byte) == (Usage(10, 5, 3), 1.5)
    assert a.cost == {"USD": 2}
    assert b.cost == {"EUR": 7, "USD": 2**53 + 1}
    assert b.first_byte is None
    assert (a + b).cost == {"EUR": 7, "USD": 2**53 + 3}


def test_days_are_those_of_a_time_zone(database):
    rows = totals(database, "day", ALL, ZoneInfo("America/New_York"))
    assert [(total.key, total.requests) for total in rows] == [
        ("1969-12-31", 1),
        ("1970-01-01", 4),
        ("1970-01-02", 2),
    ]


def test_every_kind_of_token_is_summed(records):
    counts = {name: 2**40 + at for at, name in enumerate(SUMMED_COUNTS)}
    UsageTable(records).insert([Entry("1", 0.0, "a", **counts), Entry("2", 1.0, "a", **counts)])
    (total,) = totals(records, "token", ALL)
    assert total.usage == Usage(**{name: 2 * count for name, count in counts.items()})
    assert (total + total).usage.reasoning == 4 * counts["reasoning"]


def test_totals_of_selected_rows(database):
    assert requests_by(database, "token", UsageFilter(DAY, 2 * DAY)) == {"b": (3, 2)}
    assert requests_by(database, "day", UsageFilter(0, 1e12, token="a")) == {
        "1970-01-01": (2, 0),
        "1970-01-03": (2, 1),
    }
    assert requests_by(database, "token", UsageFilter(0, 1e12, model="claude")) == {"b": (1, 0)}
    assert requests_by(database, "token", UsageFilter(0, 1e12, model="gpt-4o")) == {
        "a": (4, 1),
        "b": (2, 1),
    }
    assert totals(database, "token", UsageFilter(0, 1e12, token="nobody")) == []


@pytest.mark.parametrize("by", KINDS)
def test_the_sum_of_all_totals_is_always_the_same(database, by):
    everything = sum(totals(database, by, ALL), Total())
    assert (everything.requests, everything.failed, everything.first_byte_count) == (7, 3, 2)
    assert everything.cost == {"EUR": 7, "USD": 2**53 + 3}


def test_distinct_values_of_selected_rows(database):
    assert distinct_values(database, "token", ALL) == ["a", "b"]
    assert distinct_values(database, "token", UsageFilter(2 * DAY, 1e12)) == ["a"]


def test_existing_ids_are_returned(database):
    assert existing_ids(database, ["1", "7", "8"]) == {"1", "7"}
    assert existing_ids(database, []) == set()


def test_an_empty_ledger_has_no_totals(records):
    assert totals(records, "token", ALL) == []
