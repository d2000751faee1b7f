"""The journal: a row is in a file when `append` is back, or counted as lost; nothing is raised."""

import errno
import os

import gevent
import pytest

from engine.stores.ledger.journal import Journal, JournalError, Lag
from engine.stores.ledger.journal_segments import claim, files
from tests.support.clock import Clock
from tests.support.journals import entry, ids
from tests.support.waiting import PATIENCE


def test_a_row_is_in_the_file_at_once(tmp_path):
    journal = Journal(tmp_path / "made" / "here")
    journal.append(entry(1))
    journal.append(entry(2))
    assert ids(journal.folder) == ["req_1", "req_2"]
    assert journal.folder.stat().st_mode & 0o777 == 0o700


def test_a_worker_without_requests_has_no_file(tmp_path):
    journal = Journal(tmp_path)
    journal.turn()
    journal.release()
    assert files(tmp_path) == []


def test_another_file_is_begun_when_one_is_full(tmp_path):
    journal = Journal(tmp_path, max_bytes=500)
    for number in range(20):
        journal.append(entry(number))
    full = [path for path in files(tmp_path) if path != journal.live.path]
    assert len(full) == 4
    assert all(500 <= path.stat().st_size < 625 for path in full)
    assert None not in [claim(path) for path in full]
    assert len(ids(tmp_path)) == 20


@pytest.fixture
def clock():
    return Clock(1000.0)


def released(journal):
    """How many files nobody owns."""
    segments = [segment for path in files(journal.folder) if (segment := claim(path))]
    for segment in segments:
        segment.close()
    return len(segments)


def test_a_file_is_released_when_the_one_before_is_shipped(tmp_path, clock):
    journal = Journal(tmp_path, max_age=60, clock=clock)
    counts = []
    for number in range(3):
        journal.append(entry(number))
        journal.turn()
        counts.append(released(journal))
    assert counts == [1, 1, 1]
    assert len(ids(tmp_path)) == 3
    next(path for path in files(tmp_path) if path != journal.live.path).unlink()  # shipped
    journal.turn()
    assert (released(journal), ids(tmp_path)) == (1, ["req_1", "req_2"])


def test_a_file_is_released_when_it_is_old(tmp_path, clock):
    """However long the database is away."""
    journal = Journal(tmp_path, max_age=60, clock=clock)
    journal.append(entry(1))
    journal.release()
    journal.append(entry(2))
    clock.now += 59
    journal.turn()
    assert released(journal) == 1
    clock.now += 1
    journal.turn()
    assert released(journal) == 2


def test_files_are_released_in_the_background(tmp_path):
    journal = Journal(tmp_path)
    journal.start()
    journal.append(entry(1))
    with gevent.Timeout(PATIENCE):
        while not released(journal):
            gevent.sleep(0.01)
    journal.close()


def test_a_live_file_is_locked_until_the_journal_is_closed(tmp_path):
    journal = Journal(tmp_path)
    journal.append(entry(1))
    assert [claim(path) for path in files(tmp_path)] == [None]
    journal.close()
    assert None not in [claim(path) for path in files(tmp_path)]
    journal.append(entry(3))
    assert ids(tmp_path) == ["req_1", "req_3"]


def test_the_lag_is_the_number_and_age_of_rows_in_the_live_file(tmp_path, clock):
    journal = Journal(tmp_path, clock=clock)
    assert journal.lag() == Lag(0, 0.0)
    journal.append(entry(1))
    clock.now += 7
    journal.append(entry(2))
    assert journal.lag() == Lag(2, 7.0)
    journal.release()
    assert journal.lag() == Lag(0, 0.0)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_rows_that_cannot_be_written_are_counted_and_logged_once(
    tmp_path, monkeypatch, caplog, number
):
    journal = Journal(tmp_path)
    journal.append(entry(1))

    def fails(fd, line):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr("engine.stores.ledger.journal.os.write", fails)
        journal.append(entry(2))
        journal.append(entry(3))
    journal.append(entry(4))
    assert journal.lost_rows == 2
    assert ids(tmp_path) == ["req_1", "req_4"]
    [message] = [record.getMessage() for record in caplog.records]
    assert os.strerror(number) in message
    assert str(tmp_path) in message


def test_half_a_line_that_cannot_be_truncated_stays(tmp_path, monkeypatch):
    journal = Journal(tmp_path)
    journal.append(entry(1))
    write = os.write

    def fails(fd, size):
        raise OSError(errno.EIO, "broken")

    with monkeypatch.context() as patch:
        patch.setattr(
            "engine.stores.ledger.journal.os.write", lambda fd, line: write(fd, line[:10])
        )
        patch.setattr("engine.stores.ledger.journal.os.ftruncate", fails)
        journal.append(entry(2))
    journal.append(entry(3))
    assert journal.lost_rows == 1
    assert released(journal) == 1
    lines = [p.read_bytes().splitlines() for p in files(tmp_path)]
    assert sorted(len(each) for each in lines) == [1, 2]


def test_a_full_file_continues_where_no_other_can_be_created(tmp_path, monkeypatch):
    journal = Journal(tmp_path, max_bytes=1000)
    journal.append(entry(1))

    def fails(folder, now):
        raise OSError(errno.EMFILE, "too many open files")

    with monkeypatch.context() as patch:
        patch.setattr("engine.stores.ledger.journal.create", fails)
        for number in range(2, 10):
            journal.append(entry(number))
    assert journal.lost_rows == 0
    assert len(ids(tmp_path)) == 9
    for number in range(10, 20):
        journal.append(entry(number))
    assert len(files(tmp_path)) > 1


def full_disk(folder, when):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_tried_once_a_second(tmp_path, monkeypatch):
    attempts, now = [], [0.0]

    def full(folder, when):
        attempts.append(when)
        full_disk(folder, when)

    with monkeypatch.context() as patch:
        patch.setattr("engine.stores.ledger.journal.create", full)
        journal = Journal(tmp_path, clock=lambda: now[0])
        attempts.clear()
        for tenth in range(25):
            now[0] = tenth / 10
            journal.append(entry(tenth))
    assert attempts == [0.0, 1.0, 2.0]
    assert journal.lost_rows == 25
    now[0] = 9.0
    journal.append(entry(25))
    assert ids(tmp_path) == ["req_25"]


def test_a_clock_that_is_set_back_loses_no_row(tmp_path, monkeypatch):
    now = [2e9]
    journal = Journal(tmp_path, clock=lambda: now[0])
    with monkeypatch.context() as patch:
        patch.setattr("engine.stores.ledger.journal.create", full_disk)
        journal.append(entry(1))
    now[0] = 1e9
    journal.append(entry(2))
    assert ids(tmp_path) == ["req_2"]


def test_a_file_from_the_future_is_old(tmp_path, clock):
    """The clock was set back: by its age it would never be closed, and deleted."""
    clock.now = 2e9
    journal = Journal(tmp_path, clock=clock)
    journal.append(entry(1))
    journal.release()
    journal.append(entry(2))
    clock.now = 1e9
    journal.turn()
    assert released(journal) == 2


def test_a_removed_folder_is_created_again(tmp_path):
    journal = Journal(tmp_path / "journal", max_bytes=50)
    journal.append(entry(1))
    files(journal.folder)[0].unlink()
    journal.folder.rmdir()
    journal.append(entry(2))
    assert ids(journal.folder) == ["req_2"]


def test_a_folder_that_cannot_be_created_is_reported_at_the_start(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError) as excinfo:
        Journal(tmp_path / "file" / "journal")
    assert str(tmp_path / "file" / "journal") in str(excinfo.value)
    assert "stores.journal" in str(excinfo.value)


def test_nothing_in_an_entry_makes_append_raise(tmp_path):
    journal = Journal(tmp_path)
    journal.append(entry(1, model_asked="\ud800\0" * 10_000, cost=10**40))
    assert ids(tmp_path) == ["req_1"]
    assert journal.lost_rows == 0
