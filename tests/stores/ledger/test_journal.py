"""The journal: a row is in a file when `append` is back, or counted as lost; nothing is raised."""

import errno
import os
import subprocess
import sys
import textwrap

import gevent
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.stores.ledger.journal import (
    Journal,
    JournalError,
    Lag,
    Segment,
    claim,
    create,
    files,
)
from engine.stores.ledger_entry import Entry, decode, encode
from tests.support.clock import Clock
from tests.support.waiting import PATIENCE


def entry(number=1, **more):
    return Entry(id=f"req_{number}", time=1.0, **more)


def ids(folder):
    """The ids in all files, by when those were begun."""
    rows = [decode(line) for path in files(folder) for line in path.read_bytes().splitlines()]
    return sorted(row[0] for row in rows)


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


FULL_DISK = """
    import resource, signal, sys
    from pathlib import Path
    from engine.stores.ledger_entry import Entry
    from engine.stores.ledger.journal import Journal

    folder = Path(sys.argv[1])
    journal = Journal(folder, max_bytes=10**6)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1500, hard))  # the file grows no further
    for number in range(100):
        journal.append(Entry(id=f"req_{number}", time=1.0))
    print(journal.lost_rows)
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    for number in range(100, 110):
        journal.append(Entry(id=f"req_{number}", time=1.0))
    print(journal.lost_rows)
"""


def test_a_full_disk_loses_its_own_rows_only(tmp_path):
    process = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FULL_DISK), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    lost_rows, after = map(int, process.stdout.split())
    assert 80 < lost_rows < 99
    assert after == lost_rows
    assert len(ids(tmp_path)) == 110 - lost_rows
    assert "req_109" in ids(tmp_path)
    assert process.stderr.count("\n") == 1
    assert "the ledger loses rows, requests go on" in process.stderr


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


def row(number):
    return encode(Entry(id=f"req_{number}", time=float(number)))


def read_all(segment, limit=500):
    """The ids of all rows, read to the end, and how many lines were torn."""
    ids, torn = [], 0
    while (batch := segment.read(limit)).end != segment.offset:
        assert batch.lines == len(batch.entries) + batch.torn <= limit
        ids += [entry.id for entry in batch.entries]
        torn += batch.torn
        segment.offset = batch.end
    return ids, torn


def holding(folder, data):
    path = folder / "1-1-a.journal"
    path.write_bytes(data)
    return claim(path)


def test_a_file_can_be_claimed_only_after_its_owner_released_it(tmp_path):
    segment = create(tmp_path, 1_700_000_000.5)
    assert files(tmp_path) == [segment.path]
    assert claim(segment.path) is None
    segment.close()
    claimed = claim(segment.path)
    assert claimed is not None
    assert claimed.created == 1_700_000_000
    assert claim(segment.path) is None
    claimed.discard()
    assert files(tmp_path) == []
    assert claim(segment.path) is None


def test_a_file_deleted_while_it_is_claimed_is_not_claimed(tmp_path, monkeypatch):
    segment = create(tmp_path, 0)
    segment.close()
    opened = os.open

    def late(path, *arguments):
        fd = opened(path, *arguments)
        path.unlink()
        return fd

    monkeypatch.setattr("engine.stores.ledger.journal.os.open", late)
    assert claim(segment.path) is None


def test_a_file_claimed_while_it_is_created_is_not_written(tmp_path, monkeypatch):
    """Another worker may claim the empty file before its creator locks it."""
    opened = os.open
    paths = []

    def watched(path, *arguments):
        fd = opened(path, *arguments)
        paths.append(path)
        if len(paths) == 1:
            path.unlink()
        return fd

    monkeypatch.setattr("engine.stores.ledger.journal.os.open", watched)
    segment = create(tmp_path, 0)
    assert segment.path == paths[1]
    assert os.fstat(segment.fd).st_nlink == 1


def test_a_missing_folder_has_no_files(tmp_path):
    (tmp_path / "file").touch()
    assert files(tmp_path / "none") == files(tmp_path / "file") == []


def test_files_of_older_programs_are_listed_and_they_list_none_of_ours(tmp_path):
    (tmp_path / "1-1-a.journal").touch()
    (tmp_path / "refused.jsonl").touch()
    segment = create(tmp_path, 2)
    assert sorted(files(tmp_path)) == sorted([tmp_path / "1-1-a.journal", segment.path])
    assert list(tmp_path.glob("*.journal")) == [tmp_path / "1-1-a.journal"]


def test_files_are_for_this_user_alone(tmp_path):
    assert create(tmp_path, 0).path.stat().st_mode & 0o777 == 0o600


DAMAGE = {
    "torn at the end": (row(1) + row(2)[:20], ["req_1"], 1),
    "whole but for its end": (row(1) + row(2)[:-1], ["req_1", "req_2"], 0),
    "torn in the middle": (row(1) + row(2)[:20] + b"\n" + row(3), ["req_1", "req_3"], 1),
    "zeros of a power cut": (row(1) + b"\0" * 700_000, ["req_1"], 3),
    "zeros, then rows": (b"\0" * 300_000 + b"\n" + row(2), ["req_2"], 2),
    "nothing": (b"", [], 0),
    "another thing": (b"\x7fELF\n\n", [], 2),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damage_is_skipped_and_counted(case, tmp_path):
    data, ids, torn = DAMAGE[case]
    assert read_all(holding(tmp_path, data)) == (ids, torn)


@given(
    st.lists(st.one_of(st.integers(0, 2000), st.binary(max_size=50)), max_size=60),
    st.integers(1, 7),
)
def test_every_row_is_read_once_between_any_damage(tmp_path_factory, pieces, limit):
    folder = tmp_path_factory.mktemp("journal")
    data, expected = b"", []
    for number, piece in enumerate(pieces):
        if isinstance(piece, bytes):
            data += b"\xff" + piece.replace(b"\n", b"") + b"\n"
        else:
            expected.append(f"req_{number}")
            data += encode(Entry(id=f"req_{number}", time=1.0, model_asked="x" * piece))
    segment = holding(folder, data)
    assert read_all(segment, limit) == (expected, len(pieces) - len(expected))
    segment.discard()


def test_reading_begins_after_what_is_shipped(tmp_path):
    segment = holding(tmp_path, row(1) + row(2))
    segment.offset = len(row(1))
    assert read_all(segment) == (["req_2"], 0)
    assert isinstance(segment, Segment)
