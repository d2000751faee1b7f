"""When the files of a config count as changed."""

import os

import pytest

from engine.server.watched_files import WatchedFiles


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "gateway.yaml"
    path.write_text("version: 1")
    return path


def test_a_change_is_seen_once_and_only_when_it_is_stable(path):
    files = WatchedFiles([path])
    assert [files.changed(), files.changed()] == [False, False]
    path.write_text("version: 1\nspecs: {}")
    assert [files.changed(), files.changed(), files.changed()] == [False, True, False]


def test_a_file_that_is_removed_or_has_another_time_has_changed(path):
    files = WatchedFiles([path])
    os.utime(path, (1, 1))
    assert [files.changed(), files.changed()] == [False, True]
    path.unlink()
    assert [files.changed(), files.changed()] == [False, True]


def test_a_link_to_another_file_with_equal_times_and_size_has_changed(path, tmp_path):
    """As a ConfigMap of Kubernetes changes."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "gateway.yaml").write_text("version: 1")
        os.utime(tmp_path / name / "gateway.yaml", (1, 1))
    link = tmp_path / "link"
    link.symlink_to("a")
    files = WatchedFiles([link / "gateway.yaml"])
    link.unlink()
    link.symlink_to("b")
    assert [files.changed(), files.changed()] == [False, True]


def test_files_that_are_watched_later_count_from_then_on(path, tmp_path):
    files = WatchedFiles([path])
    other = tmp_path / "folder" / "shop.yaml"
    other.parent.mkdir()
    other.write_text("openapi: 3.1.0")
    files.watch(files.paths | {other})
    assert [files.changed(), files.changed()] == [False, False]
    other.write_text("openapi: 3.2.0 ")
    assert [files.changed(), files.changed()] == [False, True]
