"""Starting a config in a child process, and what becomes of a config that fails there."""

import gc
import os
import signal
import threading
from pathlib import Path

import gevent
import pytest

from engine.plan.plan import CannotServe
from engine.process.child_process import MEMORY
from engine.process.runtime_dir import NoWritableFolder
from engine.server.config_trial import try_out
from tests.support.shop import CONFIG, Shop
from tests.support.waiting import until


@pytest.fixture
def shop(tmp_path):
    return Shop(tmp_path)


def test_a_config_that_starts_has_a_hash_and_perhaps_a_warning(shop):
    trial = try_out(shop.make, lambda plan, folder: "the collector is away")
    assert (trial.hash, trial.error) == (shop.make().hash, "")
    assert trial.warning == "the collector is away"
    assert set(trial.files) >= {shop.config, shop.document}


def test_a_config_that_is_served_already_is_not_started(shop):
    current = shop.make().hash
    assert try_out(shop.make, lambda plan, folder: 1 / 0, current_digest=current).error == ""


def test_no_garbage_is_collected_while_a_config_starts(shop):
    assert try_out(shop.make, lambda plan, folder: str(gc.isenabled())).warning == "False"
    assert gc.isenabled()


def test_the_problems_of_a_config_are_the_error(shop):
    shop.config.write_text(CONFIG.replace("upstream: shop", "upstream: shp"))
    trial = try_out(shop.make, lambda plan, folder: "")
    assert "unknown upstream 'shp'" in trial.error
    assert "gateway.yaml:5:" in trial.error
    assert trial.hash


def test_a_fault_of_the_program_is_an_error(shop):
    def fail(plan=None, folder=None):
        raise ZeroDivisionError("a fault of ours")

    words = "failed, a bug in Modelway: ZeroDivisionError: a fault of ours"
    assert f"planning it {words}" in try_out(fail, lambda plan, folder: "").error
    assert f"starting it {words}" in try_out(shop.make, fail).error


def test_a_config_that_cannot_be_started_is_refused_with_the_reason(shop):
    def fail(plan, folder):
        raise CannotServe("the journal cannot be kept")

    assert try_out(shop.make, fail).error == "the journal cannot be kept"


def test_a_config_that_hangs_when_it_is_started_is_refused_in_time(shop):
    def hang(plan, folder):
        threading.Event().wait()

    error = try_out(shop.make, hang, 0.3).error
    assert error == "trying the config in a child process did not end within 0.3 s"


def test_a_trial_that_is_killed_is_an_error_and_leaves_no_files(shop, tmp_path):
    def write_and_die(plan, folder):
        (folder / "in/it").mkdir(parents=True)
        (tmp_path / "where").write_text(str(folder))
        os.kill(os.getpid(), signal.SIGKILL)

    assert try_out(shop.make, write_and_die).error.endswith("was killed by SIGKILL")
    assert not Path((tmp_path / "where").read_text()).exists()


def test_a_trial_ends_when_the_master_is_to_end(shop, tmp_path):
    started, stopping = tmp_path / "started", threading.Event()

    def hang(plan, folder):
        started.write_text("")
        threading.Event().wait()

    def stop():
        until(started.exists, "the trial")
        stopping.set()

    stopper = threading.Thread(target=stop)
    stopper.start()
    assert "was cancelled" in try_out(shop.make, hang, 600.0, stop=stopping.is_set).error
    stopper.join()


def test_without_a_folder_for_runtime_files_a_config_is_refused(shop, monkeypatch):
    def fail():
        raise NoWritableFolder

    monkeypatch.setattr("engine.server.config_trial.runtime_dir.base", fail)
    assert "no folder can be written" in try_out(shop.make, lambda plan, folder: "").error


def test_a_config_that_takes_all_memory_is_refused(shop):
    def grow(plan, folder):
        bytearray(MEMORY)

    assert "more memory than it may have" in try_out(shop.make, grow).error


def test_a_trial_does_not_wait_for_threads_that_only_its_parent_has(shop):
    gevent.get_hub().threadpool.apply(os.getpid)  # the hub has a thread now

    def use_threads(plan, folder):
        gevent.get_hub().threadpool.apply(os.getpid)
        raise CannotServe("it went on")

    assert try_out(shop.make, use_threads).error == "it went on"


def test_this_process_does_something_beside_the_child(shop):
    calls = []
    assert try_out(shop.make, lambda plan, folder: "", meanwhile=lambda: calls.append(1)).hash
    assert calls == [1]
