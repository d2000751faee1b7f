"""Edits are made, recorded and undone byte for byte."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.cli.connect.changes import (
    CannotUndo,
    ChangeRecord,
    Edit,
    read,
    state_folder,
    with_block,
)

BLOCK = "# modelway\nexport A=1\n# end\n"


@pytest.mark.parametrize("before", [None, b"", b"alias x=y", b"alias x=y\n", b"\xff\xfe\r\n"])
@pytest.mark.parametrize("replaces", [True, False])
def test_an_undone_file_has_its_bytes(tmp_path: Path, before: bytes | None, replaces: bool) -> None:
    file, record = tmp_path / "new" / "file", ChangeRecord(tmp_path / "state", "agent")
    if before is not None:
        file.parent.mkdir()
        file.write_bytes(before)
    edit = Edit(file, before, b"other") if replaces else with_block(file, before, BLOCK)
    record.apply([edit])
    assert read(file) == edit.after
    assert record.exists()
    record.undo()
    assert read(file) == before
    assert not record.exists()


def test_blocks_of_one_file_are_undone_in_any_order(tmp_path: Path) -> None:
    file = tmp_path / ".bashrc"
    file.write_bytes(b"alias x=y")
    first, second = ChangeRecord(tmp_path / "state", "one"), ChangeRecord(tmp_path / "state", "two")
    first.apply([with_block(file, read(file), BLOCK)])
    second.apply([with_block(file, read(file), BLOCK.replace("A", "B"))])
    first.undo()
    assert b"export A" not in file.read_bytes()
    assert b"export B" in file.read_bytes()
    second.undo()
    assert file.read_bytes() == b"alias x=y"


def test_a_file_that_somebody_changed_is_left_alone(tmp_path: Path) -> None:
    good, changed = tmp_path / "good", tmp_path / "changed"
    record = ChangeRecord(tmp_path / "state", "agent")
    record.apply([Edit(good, None, b"one"), Edit(changed, None, b"two")])
    changed.write_bytes(b"three")
    with pytest.raises(CannotUndo, match=f"{changed} was changed since"):
        record.undo()
    assert good.read_bytes() == b"one"
    assert changed.read_bytes() == b"three"
    assert record.exists()


def test_what_somebody_else_added_stays(tmp_path: Path) -> None:
    file, record = tmp_path / "a.json", ChangeRecord(tmp_path / "state", "agent")
    record.apply([Edit(file, None, b'{"model": "m"}')])
    file.write_bytes(b'{"model": "m", "theme": "dark"}')
    record.undo()
    assert file.read_bytes() == b'{\n  "theme": "dark"\n}'


def test_a_file_that_was_deleted_stays_deleted(tmp_path: Path) -> None:
    file, record = tmp_path / "file", ChangeRecord(tmp_path / "state", "agent")
    record.apply([Edit(file, None, b"one")])
    file.unlink()
    record.undo()
    assert not file.exists()


def test_modes_and_links_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"one")
    target.chmod(0o640)
    link.symlink_to(target)
    record = ChangeRecord(tmp_path / "state", "agent")
    record.apply([Edit(link, b"one", b"two"), Edit(tmp_path / "new", None, b"x")])
    assert link.is_symlink()
    assert target.read_bytes() == b"two"
    assert target.stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o600


def test_a_difference_is_shown() -> None:
    text = Edit(Path("/h/.bashrc"), b"a\n", b"a\nb").difference()
    assert text == "--- /h/.bashrc\n+++ /h/.bashrc\n@@ -1 +1,2 @@\n a\n+b\n"
    assert Edit(Path("/h/.bashrc"), None, b"a\n").difference().startswith("--- /dev/null\n")


def test_a_file_that_cannot_be_written_undoes_the_others(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    second.write_bytes(b"mine")
    second.chmod(0o444)
    record = ChangeRecord(tmp_path / "state", "agent")
    with pytest.raises(OSError, match="read-only") as raised:
        record.apply([Edit(first, None, b"one"), with_block(second, b"mine", BLOCK)])
    assert raised.value.filename == str(second)
    assert not first.exists()
    assert second.read_bytes() == b"mine"
    assert not record.exists()


def test_an_edit_that_was_cut_short_is_undone(tmp_path: Path) -> None:
    first, second = tmp_path / ".zshrc", tmp_path / ".bashrc"
    record = ChangeRecord(tmp_path / "state", "agent")
    edits = [with_block(path, b"mine", BLOCK) for path in (first, second)]
    record.apply(edits)
    second.write_bytes(b"mine")  # as if the process had died before this file
    second.chmod(0o444)
    record.undo()
    assert [first.read_bytes(), second.read_bytes()] == [b"mine", b"mine"]


@pytest.mark.parametrize("before", [None, b""])
def test_a_block_goes_from_a_file_that_had_nothing(tmp_path: Path, before: bytes | None) -> None:
    file, record = tmp_path / ".bashrc", ChangeRecord(tmp_path / "state", "agent")
    record.apply([with_block(file, before, BLOCK)])
    file.write_bytes(file.read_bytes() + b"alias x=y\n")
    record.undo()
    assert file.read_bytes() == b"alias x=y\n"


def test_lines_around_a_block_are_not_joined(tmp_path: Path) -> None:
    file, record = tmp_path / ".bashrc", ChangeRecord(tmp_path / "state", "agent")
    record.apply([with_block(file, b"alias x=y", BLOCK)])
    file.write_bytes(file.read_bytes() + b"alias z=y\n")
    record.undo()
    assert file.read_bytes() == b"alias x=y\nalias z=y\n"


def test_a_link_to_nothing_stays(tmp_path: Path) -> None:
    target, link = tmp_path / "dotfiles" / "bashrc", tmp_path / ".bashrc"
    link.symlink_to(target)
    record = ChangeRecord(tmp_path / "state", "agent")
    record.apply([with_block(link, None, BLOCK)])
    assert target.read_bytes() == BLOCK.encode()
    record.undo()
    assert link.is_symlink()
    assert not target.exists()


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    link, record = tmp_path / ".bashrc", ChangeRecord(tmp_path / "state", "agent")
    os.mkfifo(tmp_path / "pipe")
    link.symlink_to(tmp_path / "pipe")  # as people link a file to /dev/null
    with pytest.raises(OSError, match="not a regular file"):
        record.apply([with_block(link, None, BLOCK)])
    assert (tmp_path / "pipe").is_fifo()
    assert not record.exists()


@pytest.mark.parametrize("data", [b"", b'{"a": 1}', b'[{"path": "/x"}]', b"\xff"])
def test_a_record_that_cannot_be_read_says_so(tmp_path: Path, data: bytes) -> None:
    record = ChangeRecord(tmp_path, "agent")
    record.path.write_bytes(data)
    with pytest.raises(CannotUndo, match=f"{record.path} cannot be read"):
        record.undo()


def test_a_relative_folder_of_the_environment_is_ignored() -> None:
    folder = state_folder(Path("/h"), {"XDG_STATE_HOME": "state"})
    assert folder == Path("/h/.local/state/modelway/connect")
