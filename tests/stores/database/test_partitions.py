"""The months of the ledger in PostgreSQL: made when a row needs them, dropped when they are old."""

from datetime import UTC, datetime
from threading import Barrier, Thread

import pytest
from sqlalchemy import inspect, text

from engine.stores.database.failures import DatabaseRefuses, RowsRefused
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.partitions import create_months, drop_months
from engine.stores.database.usage import UsageTable
from engine.stores.ledger_entry import Entry, repaired


def seconds(*date):
    return datetime(*date, tzinfo=UTC).timestamp()


@pytest.fixture
def database(postgres):
    database = open_database(postgres.emptied())
    upgrade(database)
    yield database
    database.close()


def months(database):
    names = database.read(lambda c: inspect(c).get_table_names())
    return sorted(name for name in names if name.startswith("ledger_2"))


def rows_in(database, table):
    return database.read(lambda c: c.execute(text(f"SELECT count(*) FROM {table}")).scalar())


def test_a_month_is_made_with_its_first_row(database):
    table = UsageTable(database)
    times = [seconds(2101, 1, 31, 23, 59, 59), seconds(2101, 2, 1), seconds(2101, 12, 31)]
    entries = [Entry(f"req_{at}", at) for at in times]
    assert [table.insert(entries), table.insert(entries)] == [3, 0]
    assert months(database) == ["ledger_2101_01", "ledger_2101_02", "ledger_2101_12"]
    assert [rows_in(database, month) for month in months(database)] == [1, 1, 1]
    assert rows_in(database, "usage") == 0


def test_rows_of_the_present_are_in_the_first_partition(database):
    """Until the month after next, so that the release before this one can insert its rows."""
    now = datetime.now(UTC).timestamp()
    UsageTable(database).insert([Entry("a", now), Entry("b", now + 27 * 86_400), Entry("c", 0.0)])
    assert rows_in(database, "usage") == 3
    UsageTable(database).insert([Entry("d", now + 63 * 86_400)])
    assert rows_in(database, "usage") == 3
    assert rows_in(database, "ledger") == 4


def test_a_month_has_the_indexes_of_the_ledger(database):
    UsageTable(database).insert([Entry("a", seconds(2101, 1, 1))])
    indexes = database.read(lambda c: inspect(c).get_indexes("ledger_2101_01"))
    columns = sorted((index["column_names"], index["unique"]) for index in indexes)
    assert columns == [
        *((["id", "time"], True), (["time"], False)),
        (["token", "time"], False),
    ]


def test_processes_that_make_a_month_at_once_make_it_once(database):
    barrier = Barrier(4)
    new = []

    def insert(number):
        table = UsageTable(database)
        barrier.wait(10)
        new.append(table.insert([Entry("same", 5e9), Entry(f"req_{number}", 5e9)]))

    threads = [Thread(target=insert, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(new) == 5
    assert months(database) == ["ledger_2128_06"]


def test_a_table_with_the_name_of_a_month_is_named(database):
    """As one that was detached, which another row of its month comes after."""
    table = UsageTable(database)
    table.insert([Entry("old", 4e9)])
    database.write(
        lambda c: c.exec_driver_sql("ALTER TABLE ledger DETACH PARTITION ledger_2096_10")
    )
    words = '"ledger_2096_10" already exists: .* rename it, or attach it'
    with pytest.raises(DatabaseRefuses, match=words):
        table.insert([Entry("late", 4e9)])
    database.write(lambda c: c.exec_driver_sql("ALTER TABLE ledger_2096_10 RENAME TO october_2096"))
    assert table.insert([Entry("late", 4e9)]) == 1


def test_a_time_without_a_month_is_at_fault(database):
    entry = Entry("a", 1e300)
    with pytest.raises(RowsRefused):
        UsageTable(database).insert([entry])
    assert UsageTable(database).insert([repaired(entry)]) == 1


def test_months_that_ended_are_dropped(database):
    times = [seconds(2101, 1, 1), seconds(2101, 2, 1), seconds(2101, 3, 1)]
    UsageTable(database).insert([Entry(f"req_{at}", at) for at in times])
    assert database.write(lambda c: drop_months(c, seconds(2101, 3, 1) - 1)) == 1
    assert months(database) == ["ledger_2101_02", "ledger_2101_03"]
    assert database.write(lambda c: drop_months(c, seconds(2101, 4, 1))) == 2
    assert rows_in(database, "ledger") == 0


def test_readers_and_writers_go_on_while_a_month_is_made(database):
    """The lock of the new month is not one that inserts or reports wait for."""
    UsageTable(database).insert([Entry("a", seconds(2101, 1, 1))])

    def make(connection):
        create_months(connection, [seconds(2101, 2, 1)])
        assert UsageTable(database).insert([Entry("b", seconds(2101, 1, 2))]) == 1
        return rows_in(database, "ledger")

    assert database.write(make) == 2
