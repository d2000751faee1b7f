"""The tables: made from nothing, from the first version, by many at once, and never from newer."""

import multiprocessing
import threading

import pytest
from alembic.script import ScriptDirectory

from engine.stores.database import migrate
from engine.stores.database.failures import (
    DatabaseAway,
    DatabaseError,
    DatabaseRefuses,
    WrongVersion,
)
from engine.stores.database.migrate import check_version, upgrade
from engine.stores.database.migrations import HEAD
from engine.stores.database.open_database import open_database
from engine.stores.ledger_entry import Entry
from tests.support.records import TABLES, differences, table_names
from tests.support.release import Release, at_revision, downgrade


def test_a_database_of_the_first_version_is_brought_up_to_date(records_url):
    database = open_database(records_url)
    at_revision(database, "r0001")
    database.write(
        lambda c: c.exec_driver_sql(
            "INSERT INTO tokens (name, sha256, created, note) VALUES ('old', 'a', 1.5, '')"
        )
    )
    upgrade(database)
    assert check_version(database)
    assert differences(database) == []
    rows = database.read(lambda c: c.exec_driver_sql("SELECT name, created FROM tokens").all())
    assert [tuple(row) for row in rows] == [("old", 1.5)]
    database.close()


def test_upgrading_twice_changes_nothing(records):
    upgrade(records)
    assert differences(records) == []


def test_an_empty_database_has_work_to_do(records_url):
    database = open_database(records_url)
    if (file := database.file) is not None:
        file.touch()
    assert not check_version(database)
    database.close()


def test_a_newer_database_is_refused_with_what_to_do(records):
    for table in ("schema_version", "alembic_version"):
        records.write(lambda c, t=table: c.exec_driver_sql(f"UPDATE {t} SET version_num = 'r9999'"))
    for refuse in (check_version, upgrade):
        with pytest.raises(WrongVersion, match=r"newer Modelway .*r9999.*run that version, or put"):
            refuse(records)
    assert table_names(records) == TABLES


def test_migrations_have_no_branches():
    script = ScriptDirectory(str(migrate.FOLDER))
    steps = [step.revision for step in script.walk_revisions()]
    assert script.get_heads() == steps[:1] == [HEAD]
    assert steps == sorted(steps, reverse=True)


def _upgrade_here(url, barrier):
    database = open_database(url)
    barrier.wait(30)
    upgrade(database)
    assert check_version(database)


def test_many_processes_may_upgrade_at_once(records_url):
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(6)
    started = [context.Process(target=_upgrade_here, args=(records_url, barrier)) for _ in range(6)]
    for process in started:
        process.start()
    for process in started:
        process.join(60)
    assert [process.exitcode for process in started] == [0] * 6
    database = open_database(records_url)
    assert differences(database) == []
    database.close()


def test_many_processes_may_upgrade_tables_with_rows_at_once(records_url):
    database = open_database(records_url)
    release = Release(database)
    release.create_tables()
    release.insert([Entry(f"req_{number}", float(number)) for number in range(100)])
    database.close()
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(4)
    started = [context.Process(target=_upgrade_here, args=(records_url, barrier)) for _ in range(4)]
    for process in started:
        process.start()
    for process in started:
        process.join(60)
    assert [process.exitcode for process in started] == [0] * 4
    assert differences(database) == []
    assert Release(database).requests_by_token() == {"": 100}
    database.close()


def test_a_migration_that_was_interrupted_is_taken_up_again(postgres):
    """The first time the index of `usage` cannot be made: it is left, invalid."""
    database = open_database(postgres.emptied())
    release = Release(database)
    release.create_tables()
    release.insert([Entry("same", 1.0), Entry("other", 1.0)])
    for change in (
        "ALTER TABLE usage DROP CONSTRAINT pk_usage",
        "UPDATE usage SET id = 'same'",
    ):
        database.write(lambda c, change=change: c.exec_driver_sql(change))
    with pytest.raises(DatabaseError):
        upgrade(database)
    for change in (
        "UPDATE usage SET id = 'other' WHERE ctid = (SELECT max(ctid) FROM usage)",
        "ALTER TABLE usage ADD CONSTRAINT pk_usage PRIMARY KEY (id)",
    ):
        database.write(lambda c, change=change: c.exec_driver_sql(change))
    upgrade(database)
    assert differences(database) == []
    assert release.insert([Entry("same", 1.0), Entry("third", 1.0)]) == 1
    database.close()


def test_a_migration_goes_on_after_a_deadlock(postgres):
    """An older program holds a partition and asks for the table, which waits for the partition."""
    database, second_database = open_database(postgres.emptied()), open_database(postgres.url)
    upgrade(database)
    downgrade(database, "r0011")
    thread = threading.Thread(target=upgrade, args=(second_database,))

    def insert(connection):
        connection.exec_driver_sql("SET LOCAL deadlock_timeout = '1min'")  # the other one is ended
        connection.exec_driver_sql("LOCK TABLE usage IN ROW EXCLUSIVE MODE")
        thread.start()
        connection.exec_driver_sql(
            "DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted) LOOP "
            "PERFORM pg_sleep(0.002); END LOOP; PERFORM count(*) FROM ledger; END $$"
        )

    database.write(insert)
    thread.join()
    assert check_version(database)
    assert differences(database) == []
    second_database.close()
    database.close()


def test_nobody_waits_for_a_migration_longer_than_for_a_lock(postgres):
    """An old report holds its lock: the migration gives up for now, and inserts go on."""
    database, second_database = open_database(postgres.emptied()), open_database(postgres.url)
    release = Release(database)
    release.create_tables()
    release.insert([Entry("a", 1.0)])

    def report(connection):
        connection.exec_driver_sql("SELECT count(*) FROM usage")
        with pytest.raises(DatabaseAway, match="lock timeout"):
            upgrade(second_database)
        return Release(second_database).insert([Entry("b", 1.0)])

    assert database.write(report) == 1
    upgrade(database)
    assert release.requests_by_token() == {"": 2}
    second_database.close()
    database.close()


def test_the_file_is_for_its_owner_alone_and_writes_ahead(tmp_path):
    database = open_database(f"sqlite:///{tmp_path}/new/folder/records.db")
    upgrade(database)
    assert database.file.stat().st_mode & 0o777 == 0o600
    assert database.read(lambda c: c.exec_driver_sql("PRAGMA journal_mode").scalar()) == "wal"
    database.close()


def test_a_file_that_cannot_be_created_is_reported(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DatabaseRefuses, match="cannot make"):
        upgrade(open_database(f"sqlite:///{tmp_path}/file/records.db"))
