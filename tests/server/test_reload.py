"""The plan that is served, and how another takes its place; without a server."""

import itertools
import os
import signal
import threading
from pathlib import Path

import gevent
import pytest

from engine.app.stores import CannotServe
from engine.plan.make import make_plan
from engine.server.reload import Plans, read
from engine.source.child_process import MEMORY
from engine.values.runtime_dir import NoWritableFolder, prepare
from tests.support.small import until

CONFIG = """
version: 1
specs: {shop: {document: shop.yaml}}
upstreams: {shop: {url: "http://127.0.0.1:9"}}
routes: [{operations: shop.*, to: [{upstream: shop}]}]
"""
DOCUMENT = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths: {/a: {get: {operationId: a, responses: {"200": {description: A}}}}}
"""


def boot(planned, folder):
    return ""


class Place:
    def __init__(self, folder):
        self.config, self.document = folder / "gateway.yaml", folder / "shop.yaml"
        self.run = folder / "run"
        prepare(self.run)
        self.config.write_text(CONFIG)
        self.document.write_text(DOCUMENT)
        self.plans = Plans(self.make(), self.make, self.run, boot)

    def make(self):
        return make_plan(self.config, os.environ)


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def test_nothing_is_said_before_it_serves(place):
    assert read(place.run) is None
    assert read(place.run / "nowhere") is None


def test_a_good_plan_takes_over_and_is_said(place, caplog):
    first = place.plans.plan
    place.document.write_text(DOCUMENT.replace("/a", "/b"))
    assert place.plans.renew()
    assert "is served" not in caplog.text
    place.plans.confirm()
    assert place.plans.plan is not first
    assert place.plans.plan.routes[0].operation.path == "/b"
    assert place.plans.state.error == ""
    assert f"config {place.plans.state.hash} is served" in caplog.text


def test_a_bad_plan_leaves_the_last_good_one(place, caplog):
    first, before = place.plans.plan, place.plans.state
    place.config.write_text(CONFIG.replace("upstream: shop", "upstream: shp"))
    assert not place.plans.renew()
    state = place.plans.state
    assert place.plans.plan is first
    assert (state.hash, state.loaded) == (before.hash, before.loaded)
    assert "unknown upstream 'shp'" in state.error
    assert "gateway.yaml:5:" in state.error
    assert "the last good one is served on" in caplog.text


def test_a_plan_whose_workers_do_not_boot_gives_way_to_the_one_before(place, caplog):
    first, before = place.plans.plan, place.plans.state
    place.document.write_text(DOCUMENT.replace("/a", "/b"))
    assert place.plans.renew()
    place.plans.revert("the journal cannot be kept")
    state = place.plans.state
    assert place.plans.plan is first
    assert (state.hash, state.loaded) == (before.hash, before.loaded)
    assert state.error == "the journal cannot be kept"
    assert "the last good one is served on:\nthe journal cannot be kept" in caplog.text


def reloaded_with(place, boot, seconds=5.0):
    """The error of a reload whose trial starts plans with `boot`."""
    plans = Plans(place.make(), place.make, place.run, boot, seconds)
    first = plans.plan
    assert not plans.renew()
    assert plans.plan is first
    return plans.state.error


def test_a_config_that_cannot_be_started_is_refused_with_the_reason(place):
    def fails(planned, folder):
        raise CannotServe("the journal cannot be kept")

    assert reloaded_with(place, fails) == "the journal cannot be kept"


def test_a_config_that_hangs_when_it_is_started_is_refused_in_time(place):
    def hangs(planned, folder):
        threading.Event().wait()

    error = reloaded_with(place, hangs, 0.3)
    assert error == "trying the config in a child process did not end within 0.3 s"


def test_a_config_that_kills_who_starts_it_is_refused(place):
    def dies(planned, folder):
        os.kill(os.getpid(), signal.SIGKILL)

    assert reloaded_with(place, dies).endswith("was ended by SIGKILL")


def test_a_trial_leaves_no_files_whatever_becomes_of_it(place, tmp_path):
    def writes_and_dies(planned, folder):
        (folder / "in/it").mkdir(parents=True)
        (tmp_path / "where").write_text(str(folder))
        os.kill(os.getpid(), signal.SIGKILL)

    assert reloaded_with(place, writes_and_dies).endswith("was ended by SIGKILL")
    assert not Path((tmp_path / "where").read_text()).exists()


def test_a_trial_ends_when_the_master_is_to_end(place, tmp_path):
    def hangs(planned, folder):
        (tmp_path / "begun").write_text("")
        threading.Event().wait()

    plans = Plans(place.make(), place.make, place.run, hangs, 600.0)
    stopper = threading.Thread(target=lambda: stop_when(plans, tmp_path / "begun"))
    stopper.start()
    assert not plans.renew()
    stopper.join()
    assert "was broken off" in plans.state.error


def stop_when(plans, file):
    until(file.exists, "the trial")
    plans.stopping = True


def test_without_a_folder_for_runtime_files_a_config_is_refused(place, monkeypatch):
    def nowhere():
        raise NoWritableFolder

    monkeypatch.setattr("engine.server.trial.runtime_dir.base", nowhere)
    assert "no folder can be written" in reloaded_with(place, boot)


def test_a_config_that_takes_all_memory_is_refused(place):
    def grows(planned, folder):
        bytearray(MEMORY)

    assert "more memory than it may have" in reloaded_with(place, grows)


def test_a_trial_does_not_wait_for_threads_that_only_its_parent_has(place):
    gevent.get_hub().threadpool.apply(os.getpid)  # the hub has a thread now

    def asks(planned, folder):
        gevent.get_hub().threadpool.apply(os.getpid)
        raise CannotServe("it went on")

    assert reloaded_with(place, asks, 20.0) == "it went on"


def test_files_that_change_between_trial_and_plan_are_tried_again(place):
    """Every other plan sees another text: what was tried is never what would be served."""
    turns = itertools.count()

    def make():
        place.config.write_text(CONFIG + f"# {next(turns)} {os.getpid()}\n")
        return place.make()

    plans = Plans(place.make(), make, place.run, boot)
    assert not plans.renew()
    assert "change while they are read" in plans.state.error


def test_a_file_that_is_gone_is_a_bad_plan(place):
    place.config.unlink()
    assert not place.plans.renew()
    assert "cannot be read" in place.plans.state.error


def test_another_hash_for_another_content_of_any_file(place):
    hashes = {place.make().hash}
    place.document.write_text(DOCUMENT + "# \n")
    hashes.add(place.make().hash)
    place.config.write_text(CONFIG + "# \n")
    hashes.add(place.make().hash)
    assert len(hashes) == 3


def test_a_change_counts_when_it_has_held_still(place):
    plans = place.plans
    assert not plans.changed()
    assert not plans.changed()
    place.document.write_text(DOCUMENT.replace("/a", "/bb"))
    assert not plans.changed()  # may be in the middle of being written
    assert plans.changed()
    assert plans.renew()
    assert not plans.changed()
    assert not plans.changed()


def test_a_bad_change_is_tried_once(place):
    plans = place.plans
    place.config.write_text(CONFIG.replace("upstream: shop", "upstream: shp"))
    assert [plans.changed(), plans.changed()] == [False, True]
    assert not plans.renew()
    assert [plans.changed(), plans.changed()] == [False, False]
    place.config.write_text(CONFIG)
    assert [plans.changed(), plans.changed()] == [False, True]
    assert plans.renew()


def test_a_file_that_is_written_anew_with_the_same_words_changes_nothing(place):
    place.document.write_text(DOCUMENT)
    os.utime(place.document, (1, 1))
    (place.config.parent / "something else").write_text("")
    assert [place.plans.changed() for _ in range(3)] == [False] * 3


def test_a_folder_that_changes_starts_nothing_on_trial(place):
    """SQLite makes and removes files beside the config all day."""

    def starts(planned, folder):
        raise CannotServe("it was started")

    plans = Plans(place.make(), place.make, place.run, starts)
    for number in range(3):
        (place.config.parent / f"usage.db-{number}").write_text("")
        assert [plans.changed(), plans.changed()] == [False, False]
    place.config.write_text(CONFIG + "# changed\n")
    assert [plans.changed(), plans.changed()] == [False, True]


def test_a_fault_of_ours_in_planning_leaves_the_last_good_plan(place, caplog):
    def fails():
        raise ZeroDivisionError

    plans = Plans(place.make(), fails, place.run, boot)
    first = plans.plan
    assert not plans.renew()
    assert plans.plan is first
    assert "a fault of this program: ZeroDivisionError" in plans.state.error
    assert "ZeroDivisionError" in caplog.text


def test_a_folder_that_cannot_be_written_does_not_end_the_gateway(place, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    plans = Plans(place.make(), place.make, tmp_path / "file" / "run", boot)
    plans.publish()
    assert plans.renew()
    assert "the state of the served config cannot be published" in caplog.text
