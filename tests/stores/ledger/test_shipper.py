"""Shipping the journal: everything arrives, each row once, and nothing else has to wait."""

import errno
import random
import sqlite3
from functools import partial

import gevent
import pytest
from sqlalchemy import func, select

from engine.stores.database.failures import DatabaseAway
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.schema import usage
from engine.stores.database.usage import UsageTable
from engine.stores.ledger.journal import Journal, Lag
from engine.stores.ledger.journal_segments import claim, create, files
from engine.stores.ledger.shipper import Shipper
from engine.stores.ledger_entry import Entry
from tests.support.journals import append_entries, unowned_file
from tests.support.waiting import PATIENCE


@pytest.fixture
def shipper(journal, table, clock):
    return Shipper(journal.folder, table, batch=10, clock=clock)


def write_rows(journal, count, start=0):
    """Rows in a file that its worker has released."""
    append_entries(journal, count, start)
    journal.release()


def journal_files(journal):
    return len(files(journal.folder))


def test_rows_are_shipped_in_order_and_in_batches(shipper, journal, table):
    write_rows(journal, 25)
    shipper.round()
    assert list(table.rows) == [f"req_{n}" for n in range(25)]
    assert table.inserts == 3
    assert shipper.shipped == 25
    write_rows(journal, 5, start=25)
    shipper.round()
    assert len(table.rows) == 30
    assert table.inserts == 4


def test_a_round_without_rows_makes_no_query(shipper, journal, table):
    write_rows(journal, 1)
    for _ in range(3):
        shipper.round()
    assert table.inserts == 1


def test_a_file_is_deleted_once_it_is_shipped(shipper, journal, table):
    write_rows(journal, 5)
    append_entries(journal, 5, start=5)
    shipper.round()
    assert journal_files(journal) == 1
    journal.release()
    shipper.round()
    assert journal_files(journal) == 0
    assert len(table.rows) == 10


def test_files_without_an_owner_are_shipped(shipper, journal, table):
    unowned_file(journal.folder, 25, tail=b'{"id":"torn"')
    unowned_file(journal.folder, 3, name="y")
    append_entries(journal, 1)
    shipper.round()
    assert len(table.rows) == 28
    assert shipper.torn == 1
    assert journal_files(journal) == 1


def test_files_of_living_workers_are_not_shipped(shipper, journal, table):
    append_entries(journal, 1)
    shipper.round()
    assert table.rows == {}
    assert journal_files(journal) == 1


def test_other_files_in_the_folder_stay(shipper, journal, table):
    (journal.folder / "notes.txt").write_text("mine")
    (journal.folder / "folder.journal").mkdir()
    unowned_file(journal.folder, 1)
    shipper.round()
    assert len(table.rows) == 1
    assert (journal.folder / "notes.txt").exists()
    assert (journal.folder / "folder.journal").exists()


@pytest.mark.parametrize("answer_lost", [False, True])
def test_a_failure_loses_no_row_and_inserts_none_twice(shipper, journal, table, answer_lost):
    table.answer_lost = answer_lost
    write_rows(journal, 35)
    path = unowned_file(journal.folder, 35)
    table.away = 2
    for _ in range(2):
        with pytest.raises(DatabaseAway):
            shipper.round()
    shipper.round()
    assert len(table.rows) == 70
    assert shipper.shipped == 70
    assert not path.exists()


def test_after_a_failure_a_file_continues_at_its_offset(shipper, journal, table):
    unowned_file(journal.folder, 30)
    insert = table.insert

    def third_fails(rows):
        if table.inserts == 2:
            table.away = 1
        insert(rows)

    table.insert = third_fails
    with pytest.raises(DatabaseAway):
        shipper.round()
    shipper.round()
    assert (len(table.rows), table.inserts) == (30, 4)


def test_the_rows_of_this_moment_do_not_wait_for_those_of_an_outage(shipper, journal, table, clock):
    for number in range(5):
        unowned_file(journal.folder, 10, name=f"worker{number}", created=clock.now - 600)
    insert = table.insert

    def slow(rows):
        clock.now += 3
        insert(rows)

    table.insert = slow
    for rounds in range(1, 6):
        write_rows(journal, 1, start=rounds)
        shipper.round()
        assert f"req_{rounds}" in table.rows
    for _ in range(5):
        shipper.round()
    assert len(table.rows) == 55
    assert journal_files(journal) == 0


def test_while_the_database_is_away_no_file_is_held_open(shipper, journal, table):
    for number in range(5):
        table.away = 1
        write_rows(journal, 3, start=3 * number)
        shipper.attempt(2.0)
    free = [claim(path) for path in files(journal.folder)]
    assert len(free) == 5
    assert None not in free


def test_a_file_that_waits_reaches_the_disk_once(shipper, journal, table, monkeypatch):
    synced = []
    monkeypatch.setattr("engine.stores.ledger.shipper.os.fsync", synced.append)
    write_rows(journal, 1)
    table.away = 3
    for _ in range(3):
        shipper.attempt(2.0)
    assert len(synced) == 1
    write_rows(journal, 1, start=1)
    shipper.attempt(2.0)
    assert (len(table.rows), len(synced)) == (2, 1)


def test_a_file_that_cannot_be_synced_is_logged_and_shipped_later(
    shipper, journal, table, monkeypatch, caplog
):
    def fails(fd):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("engine.stores.ledger.shipper.os.fsync", fails)
    write_rows(journal, 1)
    table.away = 1
    shipper.attempt(2.0)
    shipper.attempt(2.0)
    assert len(table.rows) == 1
    assert "Input/output error" in caplog.text


def test_failures_are_retried_with_backoff_and_logged_once_a_minute(
    shipper, journal, table, clock, caplog
):
    write_rows(journal, 1)
    table.away = 6
    waits = [2.0]
    for _ in range(7):
        waits.append(shipper.attempt(waits[-1]))
    assert waits == [2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0, 0.25]
    [message] = [record.getMessage() for record in caplog.records]
    assert message == f"the ledger's rows wait in {journal.folder}: memory does not answer"


def test_an_unexpected_error_is_logged_and_shipping_continues(shipper, journal, table, caplog):
    write_rows(journal, 1)
    insert, table.insert = table.insert, None
    assert shipper.attempt(2.0) == 4.0
    assert caplog.records[0].exc_info is not None
    table.insert = insert
    shipper.attempt(2.0)
    assert len(table.rows) == 1


def test_rows_that_are_refused_are_counted(shipper, journal, table):
    table.refused_ids = ("req_3", "req_17")
    write_rows(journal, 25)
    for _ in range(2):
        shipper.round()
        assert (len(table.rows), shipper.refusals) == (23, 2)


def test_the_lag_is_that_of_files_that_were_not_shipped(shipper, journal, table, clock):
    assert shipper.lag() == Lag(0, 0.0)
    write_rows(journal, 100)
    shipper.round()
    assert shipper.lag() == Lag(0, 0.0)
    write_rows(journal, 100, start=100)
    table.away = 1
    clock.now += 601
    shipper.attempt(2.0)
    lag = shipper.lag()
    assert 80 < lag.rows < 120
    assert lag.seconds == 601.0
    clock.now += 601
    shipper.attempt(2.0)
    assert shipper.lag() == Lag(0, 0.0)


def test_the_lag_of_a_round_that_took_too_long(shipper, journal, table, clock):
    for number in range(3):
        unowned_file(journal.folder, 10, name=f"worker{number}", created=clock.now - 600)
    insert = table.insert

    def slow(rows):
        clock.now += 3
        insert(rows)

    table.insert = slow
    shipper.round()
    lag = shipper.lag()
    assert lag.rows == 20
    assert lag.seconds == 603.0


def test_without_a_line_read_the_lag_is_an_estimate(shipper, journal, table):
    write_rows(journal, 100)
    table.away = 1
    shipper.attempt(2.0)
    assert 30 < shipper.lag().rows < 260


def test_old_rows_are_deleted_once_an_hour(journal, table, clock, tmp_path):
    folder = journal.folder
    shippers = [Shipper(folder, table, retention=86_400.0, clock=clock) for _ in range(2)]
    for shipper in shippers:
        shipper.round()
    assert table.deletions == [1e9 - 86_400.0] * 3
    clock.now += 3601
    for shipper in shippers:
        shipper.round()
    assert table.deletions[3:] == [1e9 + 3601 - 86_400.0]


def test_a_clock_that_is_set_back_delays_nothing(journal, table, clock):
    shipper = Shipper(journal.folder, table, retention=86_400.0, clock=clock)
    shipper.round()
    clock.now -= 1e8
    unowned_file(journal.folder, 1)
    table.hours_to_fill = 1
    shipper.round()
    assert (len(table.rows), table.hours_to_fill) == (1, 0)
    assert table.deletions[-1] == clock.now - 86_400.0


def test_sums_of_old_rows_are_made_beside_the_shipping(journal, table, clock):
    shipper = Shipper(journal.folder, table, clock=clock)
    table.hours_to_fill = 3
    write_rows(journal, 1)
    shipper.round()
    assert (len(table.rows), table.hours_to_fill) == (1, 0)


def test_closing_ships_the_rest(journal, table):
    shipper = Shipper(journal.folder, table, interval=60)
    shipper.start()
    gevent.sleep(0)
    write_rows(journal, 25)
    shipper.close()
    assert len(table.rows) == 25
    assert journal_files(journal) == 0


def test_closing_releases_files_that_cannot_be_shipped(journal, table):
    shipper = Shipper(journal.folder, table, interval=60)
    write_rows(journal, 25)
    table.away = 1
    shipper.close()
    assert table.rows == {}
    assert claim(files(journal.folder)[0]) is not None


def test_closing_has_a_time_limit(journal, table):
    shipper = Shipper(journal.folder, table, interval=60)
    write_rows(journal, 5)
    table.insert = lambda rows: gevent.sleep(600)
    shipper.start()
    gevent.sleep(0)
    with gevent.Timeout(20):
        shipper.close(timeout=0.05)
    assert claim(files(journal.folder)[0]) is not None


class SkippedWaits:
    """In place of gevent's Event: a wait takes no time, and moves the test's clock instead."""

    def __init__(self, clock):
        self._clock, self._is_set = clock, False

    def set(self):
        self._is_set = True

    def wait(self, timeout):
        end = self._clock.now + timeout
        while self._clock.now < end and not self._is_set:
            gevent.sleep(0)
        return self._is_set


def test_a_row_is_shipped_within_a_second(journal, table, clock, monkeypatch):
    """Also one that is written right after its worker looked for the last time."""
    times, delays = [], []
    insert = table.insert

    def timed_insert(rows):
        delays.extend(clock.now - row.time for row in rows)
        return insert(rows)

    table.insert = timed_insert
    monkeypatch.setattr("engine.process.periodic.Event", partial(SkippedWaits, clock))
    journal = Journal(journal.folder, clock=clock)
    shipper = Shipper(journal.folder, table, clock=clock)
    shipper.start()
    journal.start()
    with gevent.Timeout(PATIENCE):
        while len(table.rows) < 200:
            clock.now += 0.01
            if random.random() < 0.1:
                journal.append(Entry(id=f"req_{len(times)}", time=clock.now))
                times.append(clock.now)
            for _ in range(3):
                gevent.sleep(0)
    journal.close()
    shipper.close()
    assert len(delays) == len(times)
    assert 0.3 < max(delays) < 1.0


def count(database):
    return database.read(lambda c: c.execute(select(func.count()).select_from(usage)).scalar())


def test_two_shippers_share_the_work(records, tmp_path, clock):
    """Both see the same files; the lock gives each to one of them, the key takes the rest."""
    for number in range(8):
        unowned_file(tmp_path, 50, name=f"worker{number}")
    for _ in range(2):
        write_rows(Journal(tmp_path), 20)  # the same ids in both
    shippers = [Shipper(tmp_path, UsageTable(records), batch=7, clock=clock) for _ in range(2)]
    greenlets = [gevent.spawn(shipper.round) for shipper in shippers]
    gevent.joinall(greenlets, timeout=PATIENCE, raise_error=True)
    assert count(records) == 8 * 50 + 20
    assert sum(shipper.shipped for shipper in shippers) == 8 * 50 + 40
    assert files(tmp_path) == []


def test_rows_of_an_older_program_are_shipped(records, tmp_path):
    (tmp_path / "1-1-a.journal").write_bytes(b'{"id":"old","time":5.0}\n{"id":"odd","cost":null}\n')
    shipper = Shipper(tmp_path, UsageTable(records))
    shipper.round()
    assert (count(records), shipper.refusals) == (2, 0)


def test_a_commit_whose_answer_was_lost_counts_once(records, tmp_path):
    table = UsageTable(records)
    insert = table.insert

    def unheard(rows):
        insert(rows)
        table.insert = insert
        raise DatabaseAway("the connection was cut")

    table.insert = unheard
    shipper = Shipper(tmp_path, table)
    write_rows(Journal(tmp_path), 20)
    with pytest.raises(DatabaseAway):
        shipper.round()
    shipper.round()
    assert count(records) == 20


def test_a_locked_sqlite_does_not_block_other_greenlets(tmp_path):
    database = open_database(f"sqlite:///{tmp_path}/modelway.db", busy=20)
    upgrade(database)
    shipper = Shipper(tmp_path / "journal", UsageTable(database))
    write_rows(Journal(tmp_path / "journal"), 5)
    lock = sqlite3.connect(tmp_path / "modelway.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    shipping = gevent.spawn(shipper.round)
    for _ in range(100):
        gevent.sleep(0.001)
    assert not shipping.ready()
    lock.execute("COMMIT")
    shipping.get(timeout=PATIENCE)
    assert count(database) == 5


def test_an_empty_file_without_an_owner_is_deleted(shipper, journal):
    create(journal.folder, 0).close()
    shipper.round()
    assert journal_files(journal) == 0


def test_a_removed_folder_does_not_stop_shipping(shipper, journal, table):
    write_rows(journal, 5)
    files(journal.folder)[0].unlink()
    journal.folder.rmdir()
    shipper.round()
    write_rows(journal, 5, start=5)
    shipper.round()
    assert len(table.rows) == 5
