"""Rows of SQLite that wait for their sums, and the sums of those that do not."""

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import insert, select

from engine.stores.database.migrate import FOLDER, upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.schema import (
    ledger_models,
    ledger_state,
    ledger_totals,
    ledger_unsummed,
    usage,
)
from engine.stores.database.sqlite_pending_sums import add_sums
from engine.stores.database.sums import UsageFilter
from engine.stores.database.totals import KINDS, ROW_KINDS, totals
from engine.stores.database.usage import UsageTable
from tests.support.ledger_rows import expected_totals, random_rows, without_average

ROWS = random_rows(300, 1_790_000_000.0, 1_790_500_000.0)
FILTERS = [
    UsageFilter(0.0, 1e12),
    UsageFilter(1_790_010_000.5, 1_790_400_000.0),
    UsageFilter(0.0, 1e12, token=ROWS[0].token),
    UsageFilter(1_790_100_000.0, 1e12, model=ROWS[0].model_asked),
]


@pytest.fixture
def databases(tmp_path):
    opened = [open_database(f"sqlite:///{tmp_path}/{name}.db") for name in ("a", "b")]
    for database in opened:
        upgrade(database)
    yield opened
    for database in opened:
        database.close()


def insert_row_by_row(database, rows):
    """As a program does that knows nothing of sums."""
    values = [row._asdict() for row in rows]
    database.write(lambda connection: connection.execute(insert(usage), values))


def add(database, rows=1_000_000):
    return database.write(lambda connection: add_sums(connection, rows))


def sums(database):
    def read(connection):
        return [
            [
                [round(v, 6) if isinstance(v, float) else v for v in row]
                for row in connection.execute(select(table).order_by(*table.primary_key.columns))
            ]
            for table in (ledger_totals, ledger_models)
        ]

    return database.read(read)


def waiting(database):
    query = select(ledger_unsummed.c.id).order_by(ledger_unsummed.c.id)
    return database.read(lambda connection: connection.execute(query).scalars().all())


def assert_totals(database, rows):
    for where in FILTERS:
        for by in (kind for kind in KINDS if kind not in ROW_KINDS):
            found = without_average(totals(database, by, where))
            assert found == expected_totals(rows, by, where), (by, where)


def test_rows_wait_and_reports_have_them(databases):
    database, _ = databases
    UsageTable(database).insert(ROWS)
    assert (sums(database), len(waiting(database))) == ([[], []], 300)
    assert_totals(database, ROWS)


def test_reports_are_the_same_before_and_after_rows_are_summed(databases):
    database, _ = databases
    UsageTable(database).insert(ROWS[:200])
    assert not add(database)
    assert waiting(database) == []
    assert_totals(database, ROWS[:200])
    UsageTable(database).insert(ROWS[200:])
    assert_totals(database, ROWS)
    add(database)
    assert_totals(database, ROWS)


def test_rows_are_summed_some_at_a_time(databases):
    parts, whole = databases
    for database in databases:
        UsageTable(database).insert(ROWS)
    steps = 1
    while add(parts, 90):
        steps += 1
        assert_totals(parts, ROWS)
    add(whole)
    assert (steps, waiting(parts)) == (4, [])
    assert sums(parts) == sums(whole)


def test_rows_of_programs_that_know_no_sums_are_added_too(databases):
    mixed, single = databases
    for start in range(0, 300, 100):
        UsageTable(mixed).insert(ROWS[start : start + 50])
        insert_row_by_row(mixed, ROWS[start + 50 : start + 100])
        add(mixed)
    UsageTable(single).insert(ROWS)
    add(single)
    assert sums(mixed) == sums(single)


def test_rows_that_were_there_are_not_added_again(databases):
    again, once = databases
    for start in (0, 0, 50):
        UsageTable(again).insert(ROWS[start : start + 100])
        add(again)
    UsageTable(once).insert(ROWS[:150])
    add(once)
    assert sums(again) == sums(once)


def test_a_row_that_was_deleted_meanwhile_has_no_sum(databases):
    database, _ = databases
    UsageTable(database).insert(ROWS[:2])
    database.write(lambda c: c.execute(usage.delete().where(usage.c.id == ROWS[0].id)))
    add(database)
    assert waiting(database) == []
    assert sum(total.requests for total in totals(database, "token", FILTERS[0])) <= 1


def test_a_row_that_was_deleted_while_it_waited_may_come_again(databases):
    database, _ = databases
    table = UsageTable(database)
    table.insert(ROWS)
    database.write(lambda c: c.execute(usage.delete()))
    assert table.insert(ROWS) == 300
    add(database)
    assert_totals(database, ROWS)


def test_the_table_of_usage_sums_what_waits(databases):
    database, _ = databases
    table = UsageTable(database)
    table.insert(ROWS)
    while table.fill():
        pass
    assert waiting(database) == []
    assert_totals(database, ROWS)


def test_without_rows_nothing_is_summed(databases):
    assert not add(databases[0])
    assert sums(databases[0]) == [[], []]


def test_rows_that_another_program_sums_wait_no_longer(databases):
    """A program of r0005 computes the sums of old hours, and knows no rows that wait."""
    database, _ = databases
    UsageTable(database).insert(ROWS)
    half = sorted(row.time for row in ROWS)[150] // 3600 * 3600

    def set_state(connection, value):
        of_totals = ledger_state.c.name == "totals_from"
        connection.execute(ledger_state.update().where(of_totals).values(value=value))

    database.write(lambda connection: set_state(connection, 1e12))
    assert len(waiting(database)) == 300
    database.write(lambda connection: set_state(connection, half))
    assert waiting(database) == sorted(row.id for row in ROWS if row.time < half)


def test_a_downgrade_sums_what_waits(databases):
    database, _ = databases
    UsageTable(database).insert(ROWS[:200])
    add(database)
    UsageTable(database).insert(ROWS[200:])

    def downgrade(connection):
        config = Config()
        config.set_main_option("script_location", str(FOLDER))
        config.attributes["connection"] = connection
        command.downgrade(config, "r0005")

    database.write(downgrade)
    summed = "SELECT sum(requests) FROM ledger_models"
    requests = sum(row.outcome != "cancelled" for row in ROWS)
    assert database.read(lambda c: c.exec_driver_sql(summed).scalar()) == requests
    upgrade(database)
    assert waiting(database) == []
    assert_totals(database, [row._replace(margin=0) for row in ROWS])
