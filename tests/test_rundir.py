"""The folder where the processes of a deployment meet."""

import os
from pathlib import Path

import pytest

from engine.rundir import prepare, rundir


def test_it_is_the_same_for_the_same_config_however_it_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert rundir(Path("gateway.yaml")) == rundir(tmp_path / "gateway.yaml")
    assert rundir(tmp_path / "gateway.yaml") != rundir(tmp_path / "other.yaml")


def test_it_is_made_for_this_user_alone(tmp_path):
    prepare(tmp_path / "here")
    prepare(tmp_path / "here")
    assert os.stat(tmp_path / "here").st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o755, 0o770])
def test_one_that_others_can_enter_is_refused(tmp_path, mode):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(mode)
    with pytest.raises(PermissionError, match="closed to others"):
        prepare(tmp_path / "open")


def test_a_link_is_refused(tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(PermissionError):
        prepare(tmp_path / "link")
