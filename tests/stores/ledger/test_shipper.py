"""Shipping the journal: everything arrives, each row once, and nothing else has to wait."""

import sqlite3
from functools import partial
from pathlib import Path

import gevent
import pytest
from sqlalchemy import func, select

from engine.stores.database.database import open_database
from engine.stores.database.failures import DatabaseAway
from engine.stores.database.migrate import upgrade
from engine.stores.database.schema import usage
from engine.stores.database.usage import UsageTable
from engine.stores.ledger.journal import Journal, claim, create, files
from engine.stores.ledger.shipper import Lag, Shipper
from engine.stores.ledger_entry import Entry
from tests.support.journals import append_entries, unowned_file
from tests.support.waiting import PATIENCE


@pytest.fixture
def shipper(journal, table, clock):
    return Shipper(journal, table, batch=10, clock=clock)


def journal_files(journal):
    return len(files(journal.folder))


def test_rows_are_shipped_in_order_and_in_batches(shipper, journal, table):
    append_entries(journal, 25)
    shipper.round()
    assert list(table.rows) == [f"req_{n}" for n in range(25)]
    assert table.inserts == 3
    assert shipper.shipped == 25
    append_entries(journal, 5, start=25)
    shipper.round()
    assert len(table.rows) == 30
    assert table.inserts == 4


def test_a_round_without_rows_makes_no_query(shipper, journal, table):
    append_entries(journal, 1)
    for _ in range(3):
        shipper.round()
    assert table.inserts == 1


def test_a_file_is_deleted_once_it_is_closed_and_shipped(shipper, journal, table, clock):
    append_entries(journal, 5)
    shipper.round()
    assert journal_files(journal) == 1
    clock.now += 601
    shipper.round()
    assert journal_files(journal) == 0
    assert journal.rotated == []
    assert table.inserts == 1


def test_files_without_an_owner_are_shipped(shipper, journal, table):
    unowned_file(journal.folder, 25, tail=b'{"id":"torn"')
    unowned_file(journal.folder, 3, name="y")
    append_entries(journal, 1)
    shipper.round()
    assert len(table.rows) == 29
    assert shipper.torn == 1
    assert journal_files(journal) == 1


def test_files_of_living_workers_are_not_shipped(shipper, journal, table):
    second_journal = Journal(journal.folder)
    second_journal.append(Entry(id="other", time=1.0))
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
    append_entries(journal, 35)
    path = unowned_file(journal.folder, 35)
    table.away = 2
    for _ in range(2):
        with pytest.raises(DatabaseAway):
            shipper.round()
    shipper.round()
    assert len(table.rows) == 70
    assert shipper.shipped == 70
    assert not path.exists()


def test_after_a_failure_a_file_continues_at_its_offset(shipper, journal, table, clock):
    unowned_file(journal.folder, 30)
    insert = table.insert

    def third_fails(rows):
        if table.inserts == 2:
            table.away = 1
        insert(rows)

    table.insert = third_fails
    with pytest.raises(DatabaseAway):
        shipper.round()
    clock.now += 10.0  # until the next search for files without an owner
    shipper.round()
    assert (len(table.rows), table.inserts) == (30, 4)


def test_a_released_file_continues_at_its_offset(shipper, journal, table, clock):
    append_entries(journal, 20)
    shipper.round()
    append_entries(journal, 10, start=20)
    clock.now += 601
    table.away = 1
    shipper.attempt(2.0)
    assert journal.rotated == []
    shipper.round()
    assert (len(table.rows), table.inserts) == (30, 4)
    assert shipper.shipped == 30


def test_files_of_dead_workers_do_not_delay_own_rows(shipper, journal, table, clock):
    for number in range(5):
        unowned_file(journal.folder, 10, name=f"worker{number}")
    insert = table.insert

    def slow(rows):
        clock.now += 3
        insert(rows)

    table.insert = slow
    for rounds in range(1, 6):
        append_entries(journal, 1, start=rounds)
        shipper.round()
        assert len(table.rows) == rounds * 11
    assert journal_files(journal) == 1


def test_while_the_database_is_away_no_file_is_held_open(shipper, journal, table, clock):
    for _ in range(5):
        table.away = 1
        append_entries(journal, 3)
        clock.now += 601
        shipper.attempt(2.0)
    assert journal.rotated == []
    assert journal.live is None
    free = [claim(path) for path in files(journal.folder)]
    assert len(free) == 5
    assert None not in free


def test_failures_are_retried_with_backoff_and_logged_once_a_minute(
    shipper, journal, table, clock, caplog
):
    append_entries(journal, 1)
    table.away = 6
    waits = [2.0]
    for _ in range(7):
        waits.append(shipper.attempt(waits[-1]))
    assert waits == [2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0, 0.5]
    [message] = [record.getMessage() for record in caplog.records]
    assert message == f"the ledger's rows wait in {journal.folder}: memory does not answer"


def test_an_unexpected_error_is_logged_and_shipping_continues(shipper, journal, table, caplog):
    append_entries(journal, 1)
    insert, table.insert = table.insert, None
    assert shipper.attempt(2.0) == 4.0
    assert caplog.records[0].exc_info is not None
    table.insert = insert
    shipper.attempt(2.0)
    assert len(table.rows) == 1


def test_rows_that_are_refused_are_counted(shipper, journal, table):
    table.refused_ids = ("req_3", "req_17")
    append_entries(journal, 25)
    for _ in range(2):
        shipper.round()
        assert (len(table.rows), shipper.refusals) == (23, 2)


def test_the_lag_is_the_number_and_age_of_waiting_rows(shipper, journal, table, clock):
    assert shipper.lag() == Lag(0, 0.0)
    append_entries(journal, 5)
    clock.now += 7
    append_entries(journal, 5)
    assert shipper.lag() == Lag(10, 7.0)
    shipper.round()
    assert shipper.lag() == Lag(0, 0.0)


def test_rows_appended_during_a_round_wait_for_the_next(shipper, journal, table, clock):
    append_entries(journal, 5)
    insert = table.insert

    def meanwhile(rows):
        insert(rows)
        clock.now += 1
        append_entries(journal, 2, start=5)
        clock.now += 3

    table.insert = meanwhile
    shipper.round()
    assert shipper.lag() == Lag(2, 4.0)


def test_the_lag_knows_of_files_without_an_owner(shipper, journal, table, clock):
    append_entries(journal, 100)
    shipper.round()
    append_entries(journal, 100, start=100)
    table.away = 1
    clock.now += 601
    shipper.attempt(2.0)
    lag = shipper.lag()
    assert 30 < lag.rows < 260
    assert lag.seconds == 601.0
    clock.now += 601
    shipper.attempt(2.0)
    assert shipper.lag() == Lag(0, 0.0)


def test_old_rows_are_deleted_once_an_hour(journal, table, clock, tmp_path):
    shippers = [Shipper(journal, table, retention=86_400.0, clock=clock) for _ in range(2)]
    for shipper in shippers:
        shipper.round()
    assert table.deletions == [1e9 - 86_400.0] * 3
    clock.now += 3601
    for shipper in shippers:
        shipper.round()
    assert table.deletions[3:] == [1e9 + 3601 - 86_400.0]


def test_a_clock_that_is_set_back_delays_nothing(journal, table, clock):
    shipper = Shipper(journal, table, retention=86_400.0, clock=clock)
    shipper.round()
    clock.now -= 1e8
    unowned_file(journal.folder, 1)
    table.hours_to_fill = 1
    shipper.round()
    assert (len(table.rows), table.hours_to_fill) == (1, 0)
    assert table.deletions[-1] == clock.now - 86_400.0


def test_sums_of_old_rows_are_made_beside_the_shipping(journal, table, clock):
    shipper = Shipper(journal, table, clock=clock)
    table.hours_to_fill = 3
    append_entries(journal, 1)
    shipper.round()
    assert (len(table.rows), table.hours_to_fill) == (1, 0)


def test_without_a_database_files_are_released(journal, clock):
    shipper = Shipper(journal, None, clock=clock)
    append_entries(journal, 3)
    clock.now += 601
    shipper.round()
    assert journal_files(journal) == 1
    assert claim(files(journal.folder)[0]) is not None
    shipper.close()
    assert shipper.refusals == 0


def test_closing_ships_the_rest(journal, table):
    shipper = Shipper(journal, table, interval=60)
    shipper.start()
    gevent.sleep(0)
    append_entries(journal, 25)
    shipper.close()
    assert len(table.rows) == 25
    assert journal_files(journal) == 0


def test_closing_releases_files_that_cannot_be_shipped(journal, table):
    shipper = Shipper(journal, table, interval=60)
    append_entries(journal, 25)
    table.away = 1
    shipper.close()
    assert table.rows == {}
    assert claim(files(journal.folder)[0]) is not None


def test_closing_has_a_time_limit(journal, table):
    shipper = Shipper(journal, table, interval=60)
    append_entries(journal, 5)
    table.insert = lambda rows: gevent.sleep(600)
    shipper.start()
    gevent.sleep(0)
    with gevent.Timeout(20):
        shipper.close(timeout=0.05)
    assert claim(files(journal.folder)[0]) is not None


class SkippedWaits:
    """In place of gevent's Event: a wait takes no time, and moves the test's clock instead."""

    def __init__(self, clock, before_wait):
        self._clock, self._before_wait = clock, before_wait
        self._is_set = False

    def set(self):
        self._is_set = True

    def wait(self, timeout):
        self._before_wait()
        gevent.sleep(0)
        self._clock.now += timeout
        return self._is_set


def test_a_row_is_shipped_within_a_second(journal, table, clock, monkeypatch):
    """Each row is written right after a round, and waits for the next one as long as can be."""
    times, delays = [], []
    insert = table.insert

    def write():
        journal.append(Entry(id=f"req_{len(times)}", time=clock.now))
        times.append(clock.now)

    def timed_insert(rows):
        delays.extend(clock.now - row.time for row in rows)
        return insert(rows)

    table.insert = timed_insert
    waits = partial(SkippedWaits, clock, write)
    monkeypatch.setattr("engine.process.periodic.Event", waits)
    shipper = Shipper(journal, table, clock=clock)
    shipper.start()
    with gevent.Timeout(10):
        while len(table.rows) < 200:
            gevent.sleep(0)
    shipper.close()
    assert len(delays) == len(times)
    assert 0.3 < max(delays) < 1.0


def count(database):
    return database.read(lambda c: c.execute(select(func.count()).select_from(usage)).scalar())


def test_two_shippers_share_the_work(records, tmp_path, clock):
    """Both see the same files; the lock gives each to one of them, the key takes the rest."""
    for number in range(8):
        unowned_file(tmp_path, 50, name=f"worker{number}")
    shippers = [
        Shipper(Journal(tmp_path), UsageTable(records), batch=7, clock=clock) for _ in range(2)
    ]
    for shipper in shippers:
        append_entries(shipper.journal, 20)  # the same ids in both
    greenlets = [gevent.spawn(shipper.round) for shipper in shippers]
    gevent.joinall(greenlets, timeout=PATIENCE, raise_error=True)
    assert count(records) == 8 * 50 + 20
    assert sum(shipper.shipped for shipper in shippers) == 8 * 50 + 40
    for shipper in shippers:
        shipper.close()
    assert files(tmp_path) == []


def test_rows_of_an_older_program_are_shipped(records, tmp_path):
    (tmp_path / "1-1-a.journal").write_bytes(b'{"id":"old","time":5.0}\n{"id":"odd","cost":null}\n')
    shipper = Shipper(Journal(tmp_path), UsageTable(records))
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
    shipper = Shipper(Journal(tmp_path), table)
    append_entries(shipper.journal, 20)
    with pytest.raises(DatabaseAway):
        shipper.round()
    shipper.round()
    assert count(records) == 20


def test_a_locked_sqlite_does_not_block_other_greenlets(tmp_path):
    database = open_database(f"sqlite:///{tmp_path}/modelway.db", busy=20)
    upgrade(database)
    shipper = Shipper(Journal(tmp_path / "journal"), UsageTable(database))
    append_entries(shipper.journal, 5)
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
    append_entries(journal, 5)
    path: Path = journal.live.path
    path.unlink()
    journal.folder.rmdir()
    shipper.round()
    assert len(table.rows) == 5
