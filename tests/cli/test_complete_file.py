"""Files that are complete, or stay as they were."""

import pytest

from engine.cli.complete_file import complete_file


def test_a_file_replaces_another_at_the_end(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with complete_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert [*tmp_path.iterdir()] == [path]


def test_a_failure_leaves_nothing_behind(tmp_path):
    def write():
        with complete_file(tmp_path / "x") as file:
            file.write(b"new")
            raise KeyError

    with pytest.raises(KeyError):
        write()
    assert [*tmp_path.iterdir()] == []
