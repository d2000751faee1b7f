"""The sums of SQLite are the same, whether a batch or the trigger adds a row."""

import pytest
from sqlalchemy import insert, select

from engine.stores.records.batch_sums import BATCH, sum_batch
from engine.stores.records.database import open_database
from engine.stores.records.migrate import upgrade
from engine.stores.records.schema import ledger_models, ledger_state, ledger_totals, usage
from engine.stores.records.usage import UsageTable
from tests.support.ledger_rows import random_rows

ROWS = random_rows(300, 1_790_000_000.0, 1_790_500_000.0)


@pytest.fixture
def databases(tmp_path):
    opened = [open_database(f"sqlite:///{tmp_path}/{name}.db") for name in ("batch", "trigger")]
    for database in opened:
        upgrade(database)
    yield opened
    for database in opened:
        database.close()


def insert_row_by_row(database, rows):
    """As a program does that knows nothing of sums."""
    values = [row._asdict() for row in rows]
    database.write(lambda connection: connection.execute(insert(usage), values))


def sums(database):
    def read(connection):
        tables = (ledger_totals, ledger_models)
        return [
            [
                [round(v, 6) if isinstance(v, float) else v for v in row]
                for row in connection.execute(select(table).order_by(*table.primary_key.columns))
            ]
            for table in tables
        ]

    return database.read(read)


def test_a_batch_adds_what_the_trigger_adds(databases):
    batch, trigger = databases
    UsageTable(batch).insert(ROWS)
    insert_row_by_row(trigger, ROWS)
    assert sums(batch) == sums(trigger)


def test_both_add_to_the_sums_of_the_other(databases):
    batch, trigger = databases
    for start in range(0, 300, 100):
        UsageTable(batch).insert(ROWS[start : start + 50])
        insert_row_by_row(batch, ROWS[start + 50 : start + 100])
    insert_row_by_row(trigger, ROWS)
    assert sums(batch) == sums(trigger)


def test_rows_that_were_there_are_not_added_again(databases):
    batch, trigger = databases
    for start in (0, 0, 50):
        UsageTable(batch).insert(ROWS[start : start + 100])
    insert_row_by_row(trigger, ROWS[:150])
    assert sums(batch) == sums(trigger)


def test_a_batch_that_fails_leaves_nothing(databases):
    batch, _ = databases

    def fail(connection):
        with sum_batch(connection):
            connection.execute(insert(usage), [ROWS[0]._asdict()])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        batch.write(fail)
    names = batch.read(lambda c: c.execute(select(ledger_state.c.name)).scalars().all())
    assert (sums(batch), BATCH in names) == ([[], []], False)
    insert_row_by_row(batch, ROWS[:1])
    assert sums(batch)[1] != []
