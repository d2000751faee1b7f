"""Files of the journal: who owns them, and what is read from one that may be damaged."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.stores.ledger.entry import Entry, encode
from engine.stores.ledger.segment import (
    Segment,
    claim,
    create,
    files,
)


def row(number):
    return encode(Entry(id=f"req_{number}", time=float(number)))


def ids(segment, limit=500, closed=True):
    """The ids of all rows, read to the end, and how many lines were torn."""
    found, torn = [], 0
    while (batch := segment.read(limit, closed)).end != segment.shipped:
        assert batch.lines == len(batch.rows) + batch.torn <= limit
        found += [r[0] for r in batch.rows]
        torn += batch.torn
        segment.shipped = batch.end
    return found, torn


def holding(folder, data):
    path = folder / "1-1-a.journal"
    path.write_bytes(data)
    return claim(path)


def test_a_file_is_claimed_only_when_its_owner_gave_it_back(tmp_path):
    made = create(tmp_path, 1_700_000_000.5)
    assert list(files(tmp_path)) == [made.path]
    assert claim(made.path) is None
    made.close()
    claimed = claim(made.path)
    assert claimed is not None
    assert claimed.begun == 1_700_000_000
    assert claim(made.path) is None
    claimed.discard()
    assert list(files(tmp_path)) == []
    assert claim(made.path) is None


def test_a_file_taken_away_while_it_is_claimed_is_nobodys(tmp_path, monkeypatch):
    made = create(tmp_path, 0)
    made.close()
    opened = os.open

    def late(path, *arguments):
        fd = opened(path, *arguments)
        path.unlink()
        return fd

    monkeypatch.setattr("engine.stores.ledger.segment.os.open", late)
    assert claim(made.path) is None


def test_a_file_claimed_while_it_is_made_is_not_written(tmp_path, monkeypatch):
    """Between making a file and locking it, somebody may take it for an empty one, left over."""
    opened = os.open
    made = []

    def watched(path, *arguments):
        fd = opened(path, *arguments)
        made.append(path)
        if len(made) == 1:
            path.unlink()
        return fd

    monkeypatch.setattr("engine.stores.ledger.segment.os.open", watched)
    segment = create(tmp_path, 0)
    assert segment.path == made[1]
    assert os.fstat(segment.fd).st_nlink == 1


def test_no_folder_holds_no_files(tmp_path):
    (tmp_path / "file").touch()
    assert list(files(tmp_path / "none")) == list(files(tmp_path / "file")) == []


def test_files_of_older_programs_are_there_too_and_they_see_none_of_ours(tmp_path):
    (tmp_path / "1-1-a.journal").touch()
    (tmp_path / "refused.jsonl").touch()
    made = create(tmp_path, 2)
    assert sorted(files(tmp_path)) == sorted([tmp_path / "1-1-a.journal", made.path])
    assert list(tmp_path.glob("*.journal")) == [tmp_path / "1-1-a.journal"]


def test_files_are_for_this_user_alone(tmp_path):
    assert create(tmp_path, 0).path.stat().st_mode & 0o777 == 0o600


def test_a_line_that_is_still_being_written_waits(tmp_path):
    segment = holding(tmp_path, row(1) + row(2)[:20])
    assert ids(segment, closed=False) == (["req_1"], 0)
    assert segment.shipped == len(row(1))


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
    data, found, torn = DAMAGE[case]
    assert ids(holding(tmp_path, data)) == (found, torn)


@given(
    st.lists(st.one_of(st.integers(0, 2000), st.binary(max_size=50)), max_size=60),
    st.integers(1, 7),
)
def test_every_row_comes_once_between_any_damage(tmp_path_factory, pieces, limit):
    folder = tmp_path_factory.mktemp("journal")
    data, expected = b"", []
    for number, piece in enumerate(pieces):
        if isinstance(piece, bytes):
            data += b"\xff" + piece.replace(b"\n", b"") + b"\n"
        else:
            expected.append(f"req_{number}")
            data += encode(Entry(id=f"req_{number}", time=1.0, model_asked="x" * piece))
    segment = holding(folder, data)
    assert ids(segment, limit) == (expected, len(pieces) - len(expected))
    segment.discard()


def test_reading_begins_after_what_is_shipped(tmp_path):
    segment = holding(tmp_path, row(1) + row(2))
    segment.shipped = len(row(1))
    assert ids(segment) == (["req_2"], 0)
    assert isinstance(segment, Segment)
