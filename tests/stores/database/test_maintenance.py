"""What is too old is deleted with its sums, and the sums of old rows are made while others come."""

import threading
from datetime import UTC, datetime

import pytest
from sqlalchemy import inspect, text

from engine.stores.database.failures import DatabaseAway
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.schema import ledger_models, ledger_totals
from engine.stores.database.sums import UsageFilter
from engine.stores.database.totals import deleted_before, totals
from engine.stores.database.usage import UsageTable
from engine.stores.ledger_entry import Entry
from tests.support.ledger_rows import expected_totals, random_rows, without_average
from tests.support.release import Release
from tests.support.thorough import scale

DAY = 86_400
START = datetime(2026, 6, 1, tzinfo=UTC).timestamp()
_ROWS = [row._replace(team="") for row in random_rows(scale(240, 600), START, START + 90 * DAY)]
OLD = len(_ROWS) * 2 // 3
"""How many rows are older than the sums, where some are."""
ROWS = [*(row._replace(margin=0) for row in _ROWS[:OLD]), *_ROWS[OLD:]]
ALL = UsageFilter(0.0, 1e12)


def assert_totals(database, rows):
    for by in ("token", "day", "model"):
        assert without_average(totals(database, by, ALL)) == expected_totals(rows, by, ALL)


def count(database, table):
    return int(database.read(lambda c: c.execute(text(f"SELECT count(*) FROM {table}")).scalar()))


def delete_all_before(database, before, limit=50):
    while UsageTable(database).delete_before(before, limit) == limit:
        pass


@pytest.mark.parametrize("days", [40, 40.3, 89.99])
def test_reports_are_exact_while_and_after_rows_are_deleted(records, days):
    UsageTable(records).insert(ROWS)
    before = START + days * DAY
    remaining_rows = [row for row in ROWS if row.time >= before]
    UsageTable(records).delete_before(before, 50)
    assert_totals(records, remaining_rows)
    delete_all_before(records, before)
    assert_totals(records, remaining_rows)
    assert deleted_before(records) == before
    assert count(records, "usage") == len(remaining_rows)


def test_sums_of_what_is_deleted_are_deleted(records):
    UsageTable(records).insert(ROWS)
    delete_all_before(records, START + 400 * DAY)
    assert (count(records, "ledger_totals"), count(records, "ledger_models")) == (0, 0)


def test_a_shorter_retention_that_is_made_longer_brings_nothing_back(records):
    table = UsageTable(records)
    table.delete_before(2000.0, 10)
    table.delete_before(1000.0, 10)
    assert deleted_before(records) == 2000.0


def test_old_months_are_dropped(postgres):
    database = open_database(postgres.emptied())
    upgrade(database)
    times = [datetime(2101, month, 15, tzinfo=UTC).timestamp() for month in (1, 2, 3)]
    UsageTable(database).insert([Entry(f"req_{at}", at) for at in times])
    delete_all_before(database, times[2] - 1)
    names = database.read(lambda c: inspect(c).get_table_names())
    assert [name for name in sorted(names) if "2101" in name] == ["ledger_2101_03"]
    assert [total.requests for total in totals(database, "token", ALL)] == [1]
    database.close()


@pytest.fixture
def migrated(records_url):
    """A database whose rows are older than its sums."""
    database = open_database(records_url)
    release = Release(database)
    release.create_tables()
    release.insert(ROWS[:OLD])
    upgrade(database)
    yield database
    database.close()


def test_reports_are_exact_after_each_step_of_making_sums(migrated):
    table, steps = UsageTable(migrated), 0
    while table.fill(rows=3):
        steps += 1
        if steps % 20 == 0:
            assert_totals(migrated, ROWS[:OLD])
    assert_totals(migrated, ROWS[:OLD])
    assert steps > 50


def test_made_sums_are_those_that_triggers_keep(migrated):
    """The same rows in a second database, which had sums from the beginning, and then more rows."""
    table = UsageTable(migrated)
    while table.fill(rows=scale(10, 3)):
        pass
    table.insert(ROWS[OLD - 20 :])
    while table.fill():
        pass

    def sums(connection):
        rows = connection.execute(ledger_totals.select()).mappings().all()
        rows += connection.execute(ledger_models.select()).mappings().all()
        return sorted(
            tuple(value for name, value in row.items() if name != "first_byte_sum") for row in rows
        )

    made = migrated.read(sums)

    def clear(connection):
        for name in ("usage", "ledger_totals", "ledger_models"):
            connection.execute(text(f"DELETE FROM {name}"))

    migrated.write(clear)
    table.insert(ROWS)
    while table.fill():
        pass
    assert migrated.read(sums) == made


def test_rows_that_come_while_sums_are_made_count_once(migrated):
    second_database = open_database(str(migrated.engine.url))

    def insert():
        for row in ROWS[OLD:]:
            while True:
                try:
                    UsageTable(second_database).insert([row])
                    break
                except DatabaseAway:  # a statement may wait too long on a busy machine
                    continue

    thread = threading.Thread(target=insert)
    thread.start()
    table = UsageTable(migrated)
    while table.fill(rows=scale(8, 3)) or thread.is_alive():
        pass
    thread.join()
    second_database.close()
    assert_totals(migrated, ROWS)


def test_one_process_makes_sums_at_a_time(postgres):
    database = open_database(postgres.emptied())
    release = Release(database)
    release.create_tables()
    release.insert(ROWS[:10])
    upgrade(database)

    def meanwhile(connection):
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({0x6D7766696C})")
        return UsageTable(database).fill(rows=3)

    assert not database.write(meanwhile)
    assert UsageTable(database).fill(rows=3)
    database.close()
