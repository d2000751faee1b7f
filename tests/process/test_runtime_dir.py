"""The folder where the processes of a deployment meet."""

import os
import tempfile
from pathlib import Path

import pytest

from engine.config.server import Server
from engine.process import runtime_dir as module
from engine.process.runtime_dir import (
    NoWritableFolder,
    base,
    prepare,
    runtime_directory,
    use_for_temporary_files,
)
from engine.server.gunicorn_application import settings


def test_relative_and_absolute_paths_have_the_same_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert runtime_directory(Path("gateway.yaml")) == runtime_directory(tmp_path / "gateway.yaml")
    assert runtime_directory(tmp_path / "gateway.yaml") != runtime_directory(
        tmp_path / "other.yaml"
    )


def test_a_directory_made_for_a_part_of_it_is_private_too(tmp_path):
    prepare(tmp_path / "here" / "machine")
    prepare(tmp_path / "here")
    assert os.stat(tmp_path / "here").st_mode & 0o777 == 0o700


def test_the_directory_is_private_to_this_user(tmp_path):
    prepare(tmp_path / "here")
    prepare(tmp_path / "here")
    assert os.stat(tmp_path / "here").st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o755, 0o770])
def test_a_directory_that_other_users_can_enter_is_refused(tmp_path, mode):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(mode)
    with pytest.raises(PermissionError, match="closed to others"):
        prepare(tmp_path / "open")


def test_a_link_is_refused(tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(PermissionError):
        prepare(tmp_path / "link")


def temporary_folder():
    """As `tempfile.gettempdir` on a machine without a folder for temporary files."""
    if tempfile.tempdir is None:
        raise FileNotFoundError
    return tempfile.tempdir


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """The folders that could be written, none of which can."""
    writable = set()
    monkeypatch.setattr(module, "SHARED_MEMORY", tmp_path / "shm")
    monkeypatch.setattr("os.access", lambda path, mode: str(path) in writable)
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "gettempdir", temporary_folder)
    for name in ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)

    def add(name):
        folder = tmp_path / name
        folder.mkdir()
        writable.add(str(folder))
        return folder

    return add


def test_memory_comes_first_then_temporary_files_then_what_systemd_gives(folders, monkeypatch):
    with pytest.raises(NoWritableFolder):
        base()
    folder = folders("run")
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(folder))
    assert base() == folder
    temporary = folders("tmp")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    assert base() == temporary
    shared = folders("shm")
    assert base() == shared


def test_without_a_writable_folder_the_error_says_what_is_needed(folders):
    with pytest.raises(NoWritableFolder, match=r"mount a tmpfs .* /dev/shm or /tmp .* TMPDIR$"):
        runtime_directory(Path("gateway.yaml"))


def test_without_a_temporary_folder_large_bodies_go_where_runtime_files_are(folders):
    shared = folders("shm")
    use_for_temporary_files()
    with tempfile.TemporaryFile() as file:
        assert os.readlink(f"/proc/self/fd/{file.fileno()}").startswith(str(shared))


def test_a_temporary_folder_that_can_be_written_is_used(folders, monkeypatch):
    folders("shm")
    temporary = folders("tmp")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    use_for_temporary_files()
    assert tempfile.gettempdir() == str(temporary)


def test_workers_show_that_they_live_in_memory_and_not_on_a_disk(folders):
    shared = folders("shm")
    assert settings(Server())["worker_tmp_dir"] == str(shared)
