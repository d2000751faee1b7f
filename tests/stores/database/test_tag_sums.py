"""Sums by the values of a tag: as many as are read, kept for as long as rows, filled by both
migrations and inserts."""

from msgspec.structs import replace
from sqlalchemy import func, select

from engine.stores.database import migrate, tag_sums
from engine.stores.database.schema import ledger_tags
from engine.stores.database.sums import UsageFilter
from engine.stores.database.usage import UsageTable
from engine.stores.ledger_entry import Entry
from tests.support.release import downgrade

DAY = 86_400
STARTS = func.count(ledger_tags.c.start)
ALL = UsageFilter(0.0, 1000 * DAY, token="ann")


def row(number, value, **more):
    return Entry(f"r{number}", DAY + number, "ann", tags=f'{{"t":"{value}"}}', cost=2**40, **more)


def totals(database, where=ALL, most=100):
    return tag_sums.totals_by_tag(database, "t", where, 5, most)


def test_combinations_beyond_the_bound_are_summed(records, monkeypatch):
    monkeypatch.setattr(tag_sums, "MAX_COMBINATIONS", 3)
    values = ["a", "a", "a", "b", "b", "c", "d", "e"]
    entries = [row(*each, currency="USD") for each in enumerate(values)]
    UsageTable(records).insert([*entries, row(9, "f", currency="EUR")])
    found = [(total.key, total.requests, total.cost) for total in totals(records)]
    assert [each[:2] for each in found] == [("a", 3), ("b", 2), ("c", 1), ("(others)", 3)]
    assert found[0][2] == {"USD": 3 * 2**40}
    assert found[-1][2] == {"USD": 2 * 2**40, "EUR": 2**40}


def test_values_beyond_the_most_are_summed_with_those_beyond_the_bound(records, monkeypatch):
    values = ["a", "a", "a", "b", "b", "c", "d", "e"]
    entries = [row(*each, currency="USD", output=5) for each in enumerate(values)]
    UsageTable(records).insert([*entries, row(9, "f", currency="EUR", input=7)])
    for bound in (100, 5, 3):  # all values are read, and all but those of one and of three rows
        monkeypatch.setattr(tag_sums, "MAX_COMBINATIONS", bound)
        a, others = totals(records, most=2)
        assert (a.key, a.requests, a.usage.output, a.cost) == ("a", 3, 15, {"USD": 3 * 2**40})
        assert (others.key, others.requests) == ("(others)", 6)
        assert (others.usage.input, others.usage.output) == (7, 25)
        assert others.cost == {"EUR": 2**40, "USD": 5 * 2**40}


def test_more_sums_than_an_answer_adds_are_none(records, monkeypatch):
    monkeypatch.setattr(tag_sums, "MAX_SUMS", 3)
    UsageTable(records).insert([row(number, number) for number in range(4)])
    assert totals(records) is None
    UsageTable(records).insert([row(DAY + number, number) for number in range(3)])
    assert len(totals(records, replace(ALL, since=2.0 * DAY))) == 3


def test_a_team_has_the_sums_of_its_tokens(records):
    names = [("ann", "x"), ("ben", "x"), ("ann", "y"), ("cid", "")]
    rows = [row(n, "a")._replace(token=t, team=team) for n, (t, team) in enumerate(names)]
    UsageTable(records).insert(rows)
    for where, expected in (
        (replace(ALL, token="", team="x"), 2),
        (replace(ALL, token="ann"), 2),
        (replace(ALL, token="cid"), 1),
    ):
        assert [total.requests for total in totals(records, where)] == [expected]
    assert records.read(lambda connection: connection.scalar(select(STARTS))) == 5 * 2


def test_any_days_are_summed_exactly_of_periods_of_both_lengths(records):
    days = range(30)
    UsageTable(records).insert([row(day, "a")._replace(time=day * DAY + 1.5) for day in days])
    for since in (0, 1, 7, 8, 9, 16):
        for until in (1, 8, 9, 15, 16, 24, 30, 40):
            where = replace(ALL, since=float(since * DAY), until=float(until * DAY))
            expected = len([day for day in days if since <= day < until])
            assert sum(total.requests for total in totals(records, where)) == expected
    read = select(ledger_tags.c.period).distinct()
    periods = records.read(lambda connection: connection.scalars(read).all())
    assert sorted(periods) == [DAY, 8 * DAY]


def test_a_text_that_was_cut_has_no_tag(records):
    UsageTable(records).insert([row(1, "a")._replace(tags='{"t":"a')])
    assert totals(records) == []


def test_the_retention_deletes_days(records):
    table = UsageTable(records)
    table.insert([row(1, "a"), row(3 * DAY, "b")])
    table.delete_before(2 * DAY, 100)
    assert [total.key for total in totals(records)] == ["b"]


def old_rows(database, *rows):
    """Insert rows that are there before the step that makes the sums."""
    UsageTable(database).insert(rows)
    downgrade(database, "r0012")
    migrate.upgrade(database)


def test_rows_from_before_the_sums_are_added_once(records):
    """In parts, while later rows come, some of them with an earlier time."""
    old_rows(records, row(1, "a"), row(2, "a"), row(2 * DAY, "b"))
    table = UsageTable(records)
    expected = {"a": 4, "b": 1}
    table.insert([row(2, "a"), row(3, "a"), row(3 * DAY, "a")])
    parts = 0
    while True:
        assert {total.key: total.requests for total in totals(records)} == expected
        if not table.fill(1):
            break
        parts += 1
        late = row(100 + parts, "late", team=f"t{parts}")
        table.insert([late])
        expected["late"] = parts
    assert parts > 2
    assert records.read(lambda connection: connection.scalar(select(STARTS))) > 2


def test_days_that_the_retention_has_deleted_are_not_in_the_sums_of_old_rows(records):
    old_rows(records, row(1, "a"), row(3 * DAY, "b"))
    UsageTable(records).delete_before(2 * DAY, 100)
    assert [total.key for total in totals(records)] == ["b"]
    while UsageTable(records).fill(1):
        pass
    assert [total.key for total in totals(records)] == ["b"]
