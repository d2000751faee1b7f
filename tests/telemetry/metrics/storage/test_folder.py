"""The folder where workers meet: one for each run, and a slot for each that lives."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys

import pytest

from engine.telemetry.metrics.storage.folder import Slot, folder_of, remove_dead_gauges


def test_a_master_has_one_folder_for_its_user_only(tmp_path):
    folder = folder_of(os.getpid(), tmp_path)
    assert folder_of(os.getpid(), tmp_path) == folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_folders_of_ended_masters_are_removed(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    folder_of_ended = folder_of(process.pid, tmp_path)
    (folder_of_ended / "counter_0.db").touch()
    assert folder_of_ended.exists()
    own_folder = folder_of(os.getpid(), tmp_path)
    assert folder_of_ended.exists()
    process.kill()
    process.communicate()
    folder_of(os.getpid(), tmp_path)
    assert (own_folder.exists(), folder_of_ended.exists()) == (True, False)


def test_a_reused_pid_gets_a_new_folder(tmp_path):
    stale = tmp_path / f"modelway-metrics-{os.getuid()}-{os.getpid()}-1"
    stale.mkdir()
    assert folder_of(os.getpid(), tmp_path) != stale
    assert not stale.exists()


def test_a_folder_of_another_user_is_refused(tmp_path):
    folder = folder_of(os.getpid(), tmp_path)
    folder.rmdir()
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PermissionError):
        folder_of(os.getpid(), tmp_path)


def test_a_slot_makes_a_folder_that_was_removed(tmp_path):
    folder = folder_of(os.getpid(), tmp_path)
    folder.rmdir()
    Slot(folder).close()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_slot_of_a_folder_that_was_removed_leaves_the_gauges_in_the_new_one(tmp_path):
    folder = folder_of(os.getpid(), tmp_path)
    former = Slot(folder)
    shutil.rmtree(folder)
    slot = Slot(folder)
    assert slot.number == former.number
    gauge = folder / f"gauge_livesum_{slot.number}.db"
    gauge.touch()
    former.close()
    assert gauge.exists()
    slot.close()
    assert not gauge.exists()


def test_slots_are_locked_in_order_and_reused(tmp_path):
    first, second = Slot(tmp_path), Slot(tmp_path)
    assert (first.number, second.number) == (0, 1)
    first.close()
    three = Slot(tmp_path)
    assert three.number == 0
    second.close()
    three.close()


def test_gauges_of_dead_workers_are_removed_and_counters_remain(tmp_path):
    living = Slot(tmp_path)
    for number in (0, 7):
        for kind in ("counter", "gauge_livesum", "histogram"):
            (tmp_path / f"{kind}_{number}.db").touch()
    (tmp_path / "gauge_livesum_7.new").touch()  # it died while it wrote it
    remove_dead_gauges(tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*_[07].*")) == [
        "counter_0.db",
        "counter_7.db",
        "gauge_livesum_0.db",
        "histogram_0.db",
        "histogram_7.db",
    ]
    living.close()
