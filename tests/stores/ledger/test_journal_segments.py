"""The files of journals: who holds them, and what is in them."""

import os
import subprocess
import sys
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.stores.ledger.journal_segments import Segment, claim, create, files
from engine.stores.ledger_entry import Entry, encode
from tests.support.journals import ids, row

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
