"""A note of the files that are read."""

import hashlib

import pytest

from engine.source.files import read_text, record_reads


def test_line_ends_are_line_feeds_and_nothing_is_noted_unasked(tmp_path):
    file = tmp_path / "a"
    file.write_bytes(b"a\r\nb\rc\n")
    assert read_text(file) == "a\nb\nc\n"


def test_files_that_are_read_are_recorded_with_their_hashes(tmp_path):
    present, absent = tmp_path / "one", tmp_path / "gone"
    present.write_bytes(b"x")
    with record_reads() as recorded:
        read_text(present)
        with pytest.raises(FileNotFoundError):
            read_text(absent)
    read_text(present)
    assert recorded == {present: hashlib.sha256(b"x").hexdigest(), absent: ""}


def test_notes_within_notes_are_apart(tmp_path):
    (tmp_path / "one").write_bytes(b"x")
    with record_reads() as outer:
        with record_reads() as inner:
            read_text(tmp_path / "one")
        assert (len(inner), len(outer)) == (1, 0)
