"""The ledger's rows in a database: each enters once, whatever it holds."""

import sqlite3

import pytest
from sqlalchemy import event, select

from engine.stores.database.failures import DatabaseAway, DatabaseRefuses, RowsRefused
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.schema import metadata, usage
from engine.stores.database.sums import UsageFilter
from engine.stores.database.usage import UsageTable, pages
from engine.stores.ledger_entry import Entry, decode, encode, repaired
from tests.support.journals import ENTRY
from tests.support.ledger_rows import random_rows


def rows(*entries):
    return [decode(encode(entry)) for entry in entries]


def entered(database):
    ask = select(usage).order_by(usage.c.id)
    return [dict(row) for row in database.read(lambda c: c.execute(ask).mappings().all())]


def test_a_row_is_read_as_it_was_inserted(records):
    none = Entry(id="req_2", time=5.0)
    UsageTable(records).insert(rows(ENTRY, none))
    assert entered(records) == [ENTRY._asdict(), none._asdict()]


def test_a_row_counts_once_however_often_it_is_inserted(records):
    table = UsageTable(records)
    table.insert(rows(ENTRY, ENTRY))
    table.insert(rows(ENTRY._replace(cost=1), ENTRY._replace(id="req_2")))
    table.insert([])
    assert [(r["id"], r["cost"]) for r in entered(records)] == [("req_1", 2**62), ("req_2", 2**62)]


INVALID_CHANGES = [
    {"duration": None},
    {"cost": 2**64 - 1},
]


@pytest.mark.parametrize("wrong", INVALID_CHANGES)
def test_a_row_at_fault_is_distinguished_from_an_unavailable_database(records, wrong):
    table = UsageTable(records)
    sound, bad = rows(ENTRY, ENTRY._replace(id="req_2"))
    bad = bad._replace(**wrong)
    with pytest.raises(RowsRefused):
        table.insert([sound, bad])
    assert entered(records) == []
    table.insert([sound, repaired(bad)])
    assert len(entered(records)) == 2


def test_a_row_of_an_older_program_is_inserted(records):
    UsageTable(records).insert([decode(b'{"id":"req_1","time":5.0}')])
    assert entered(records) == [Entry("req_1", 5.0)._asdict()]


ODD = [
    {"model_asked": "nul \0 and half \ud800"},
    {"model_asked": "\x01" * 100_000, "token": "ü" * 100_000},
    {"cost": 10**40, "status": 10**40, "input": -(10**40)},
    {"upstream": "\uffff\U0010ffff"},
]


@pytest.mark.parametrize("odd", ODD)
def test_every_line_of_the_journal_is_inserted(records, odd):
    UsageTable(records).insert(rows(ENTRY._replace(**odd)))
    assert len(entered(records)) == 1


def test_old_rows_are_deleted_in_batches(records):
    table = UsageTable(records)
    table.insert(rows(*(Entry(id=f"req_{n}", time=float(n)) for n in range(10))))
    assert table.delete_before(7.0, limit=5) == 5
    assert [r["time"] for r in entered(records)] == [5.0, 6.0, 7.0, 8.0, 9.0]
    assert table.delete_before(7.0, limit=5) == 2
    assert table.delete_before(7.0, limit=5) == 0


def test_a_file_of_sqlite_shrinks_as_old_rows_are_deleted(tmp_path):
    database = open_database(f"sqlite:///{tmp_path}/records.db")
    upgrade(database)
    table = UsageTable(database)
    for start in range(0, 10_000, 1000):
        numbers = range(start, start + 1000)
        table.insert(rows(*(Entry(id=f"req_{n}", time=float(n), token="x" * 200) for n in numbers)))

    def size():
        database.read(lambda c: c.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all())
        return (tmp_path / "records.db").stat().st_size

    full = size()
    while table.delete_before(9000.0, limit=1000):
        pass
    assert size() < full / 4
    database.close()


def test_an_insert_returns_how_many_rows_are_new(records):
    table = UsageTable(records)
    ten = rows(*(Entry(id=f"req_{n}", time=float(n)) for n in range(10)))
    assert [table.insert(ten[:6]), table.insert(ten), table.insert(ten)] == [6, 4, 0]


def test_only_one_process_deletes_old_rows(postgres):
    """The lock lasts as long as the transaction that deletes."""
    database = open_database(postgres.fresh())
    second_database = open_database(str(database.engine.url.render_as_string(hide_password=False)))
    upgrade(database)
    UsageTable(database).insert(rows(ENTRY))

    def meanwhile(connection):
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({0x6D776F6C64})")
        return UsageTable(second_database).delete_before(2e9, limit=5)

    assert database.write(meanwhile) == 0
    assert UsageTable(second_database).delete_before(2e9, limit=5) == 1
    second_database.close()
    database.close()


def test_a_database_without_tables_is_no_fault_of_the_rows(records_url):
    with pytest.raises(DatabaseRefuses, match="no tables"):
        UsageTable(open_database(records_url)).insert(rows(ENTRY))


def test_a_missing_server_is_away():
    table = UsageTable(open_database("postgresql+psycopg://nobody@127.0.0.1:1/none"))
    with pytest.raises(DatabaseAway):
        table.insert(rows(ENTRY))


def test_rows_in_sqlite_are_synced_to_the_disk(tmp_path):
    database = open_database(f"sqlite:///{tmp_path}/modelway.db")
    UsageTable(database)
    synchronous = database.read(lambda c: c.exec_driver_sql("PRAGMA synchronous").scalar())
    assert synchronous == 2  # FULL


@pytest.mark.parametrize("many", [1, 3, 39, 300, 600])
def test_any_number_of_rows_is_inserted(records, many):
    ids = [f"req_{number:03}" for number in range(many)]
    UsageTable(records).insert(rows(*(ENTRY._replace(id=name) for name in ids)))
    assert [row["id"] for row in entered(records)] == ids


def test_rows_are_inserted_where_sqlite_takes_few_parameters(tmp_path):
    """As SQLite did before 3.32."""
    database = open_database(f"sqlite:///{tmp_path}/old.db")
    metadata.create_all(database.engine)

    def old(connection, record):
        connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 999)

    event.listen(database.engine, "connect", old)
    database.close()
    UsageTable(database).insert(
        rows(*(ENTRY._replace(id=f"req_{number}") for number in range(300)))
    )
    assert len(entered(database)) == 300
    database.close()


START = 1_790_000_000.0
ROWS = random_rows(60, START, START + 70 * 86_400)


def test_every_row_is_in_one_page_in_the_order_of_time_and_id(records):
    UsageTable(records).insert(ROWS)
    where = UsageFilter(START + 86_400, START + 60 * 86_400)
    expected = sorted(
        (row for row in ROWS if where.since <= row.time < where.until),
        key=lambda row: (row.time, row.id),
    )
    for size in (7, len(expected), 1000):
        found = [*pages(records, where, size)]
        assert [row for page in found for row in page] == expected
        assert {len(page) for page in found[:-1]} <= {size}


def test_rows_of_the_same_moment_are_all_there(records):
    rows = [row._replace(time=START) for row in ROWS]
    UsageTable(records).insert(rows)
    found = [row.id for page in pages(records, UsageFilter(START, START + 1), 7) for row in page]
    assert sorted(found) == sorted(row.id for row in rows)
