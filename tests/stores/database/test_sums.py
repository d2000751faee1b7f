"""Reports from sums equal the sums of their rows, to the second, in every time zone."""

from datetime import UTC, datetime
from itertools import product
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import select, text

from engine.stores.database.periods import DAY, HOUR
from engine.stores.database.schema import ledger_models, ledger_totals
from engine.stores.database.sums import UsageFilter
from engine.stores.database.totals import KINDS, totals
from engine.stores.database.usage import UsageTable
from tests.support.ledger_rows import expected_totals, random_rows, without_average
from tests.support.thorough import scale

START = datetime(2026, 9, 20, tzinfo=UTC).timestamp()
ROWS = random_rows(scale(500, 1500), START, START + 60 * DAY)
RANGES = [
    (0.0, 1e12),
    (START + 1.5, START + 2.5),
    (START + 90.25, START + 50 * DAY + 1234.5),
    (START + 12 * DAY, START + 13 * DAY),
    (START + 5 * HOUR, START + 40 * DAY + 2 * HOUR),
    (START + DAY - 900, START + 3 * DAY - 901.5),
]


@pytest.fixture
def database(records):
    table = UsageTable(records)
    for start in range(0, len(ROWS), 100):  # some of them twice, as after an outage
        table.insert(ROWS[max(0, start - 30) : start + 100])
        if start < len(ROWS) / 2:  # in SQLite the others wait for their sums
            fill(table)
    return records


def fill(table):
    while table.fill():
        pass


def assert_exact(database, rows=ROWS, ranges=RANGES, zones=("UTC",), kinds=KINDS):
    filters = ({}, {"token": "token 1"}, {"model": "model '0'"}, {"token": "x", "model": "y"})
    every = [*product(kinds, ranges, filters, zones)]
    for by, (since, until), names, zone in every[:: scale(5, 1)]:  # 4 filters, so each in turn
        where, time_zone = UsageFilter(since, until, **names), ZoneInfo(zone)
        result = without_average(totals(database, by, where, time_zone))
        assert result == expected_totals(rows, by, where, time_zone), (by, where, zone)


def test_every_report_is_exact(database):
    assert_exact(database)


def test_days_of_every_time_zone_are_exact(database):
    """Some are 30 or 45 minutes from whole hours, some change their clocks in these weeks."""
    zones = ("Europe/Vienna", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe")
    assert_exact(database, zones=zones, kinds=("day",))


def test_a_row_is_in_each_of_its_periods_once(database):
    table = UsageTable(database)
    table.insert(ROWS)
    fill(table)

    def requests(connection):
        totals_of = ledger_totals.c
        return [
            connection.execute(
                text(f"SELECT sum(requests) FROM ledger_totals WHERE period = {p}")
            ).scalar()
            for p in connection.execute(select(totals_of.period).distinct()).scalars()
        ] + [connection.execute(text("SELECT sum(requests) FROM ledger_models")).scalar()]

    expected = sum(row.outcome != "cancelled" for row in ROWS)
    assert [int(count) for count in database.read(requests)] == [expected] * 4


def test_names_with_separators_have_sums_of_their_own(records):
    first = ROWS[0]._replace(id="a", token="a','b", team="c", model_asked="x")
    second = ROWS[0]._replace(id="b", token="a", team="b','c", model_asked="x")
    UsageTable(records).insert([first, second])
    fill(UsageTable(records))
    keys = records.read(lambda c: c.execute(select(ledger_totals.c.token)).scalars().all())
    assert sorted(keys) == ["a"] * 3 + ["a','b"] * 3
    models = records.read(lambda c: c.execute(select(ledger_models.c.requests)).scalars().all())
    assert list(models) == [2]
