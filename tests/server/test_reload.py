"""The plan that is served, and how another takes its place; without a server."""

import itertools
import os
import shutil

import pytest

from engine.plan.plan import CannotServe
from engine.process.runtime_dir import prepare
from engine.server.master_state import Phase, WorkerState, read
from engine.server.reload import Plans
from tests.support.shop import CONFIG, DOCUMENT, Shop


def boot(planned, folder):
    return ""


class Place(Shop):
    def __init__(self, folder):
        super().__init__(folder)
        self.run = folder / "run"
        prepare(self.run)
        self.plans = Plans(self.make(), self.make, self.run, boot)

    def published(self):
        state = read(self.run)
        assert state is not None
        return state


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def test_nothing_is_published_before_it_serves(place):
    assert read(place.run) is None
    assert read(place.run / "nowhere") is None


def test_a_good_plan_takes_over_and_is_logged(place, caplog):
    first = place.plans.plan
    place.document.write_text(DOCUMENT.replace("/a", "/b"))
    assert place.plans.renew()
    assert "is now served" not in caplog.text
    place.plans.confirm()
    assert place.plans.plan is not first
    assert place.plans.plan.routes[0].operation.path == "/b"
    assert place.plans.state.error == ""
    assert f"config {place.plans.state.hash} is now served" in caplog.text


def test_a_worker_serves_the_new_plan_and_gives_up_the_one_before(place):
    place.document.write_text(DOCUMENT.replace("/a", "/b"))
    assert place.plans.renew()
    application = place.plans.serve(None)
    application.close()
    with pytest.raises(AssertionError):  # only the master has it
        place.plans.revert("the journal cannot be kept")


def test_a_bad_plan_leaves_the_last_good_one(place, caplog):
    first, before = place.plans.plan, place.plans.state
    place.config.write_text(CONFIG.replace("upstream: shop", "upstream: shp"))
    assert not place.plans.renew()
    state = place.plans.state
    assert place.plans.plan is first
    assert (state.hash, state.loaded) == (before.hash, before.loaded)
    assert "unknown upstream 'shp'" in state.error
    assert "gateway.yaml:5:" in state.error
    assert "the last good one is still served" in caplog.text


def test_a_plan_whose_workers_do_not_boot_is_reverted(place, caplog):
    first, before = place.plans.plan, place.plans.state
    place.document.write_text(DOCUMENT.replace("/a", "/b"))
    assert place.plans.renew()
    place.plans.revert("the journal cannot be kept")
    state = place.plans.state
    assert place.plans.plan is first
    assert (state.hash, state.loaded) == (before.hash, before.loaded)
    assert state.error == "the journal cannot be kept"
    assert "the last good one is still served:\nthe journal cannot be kept" in caplog.text


def test_what_was_removed_is_published_again(place):
    place.plans.publish()
    before = place.published()
    shutil.rmtree(place.run)
    assert read(place.run) is None
    place.plans.report([])
    assert place.published() == before


@pytest.mark.parametrize("boots", [True, False])
def test_the_result_of_a_reload_is_published_when_it_is_known(place, boots):
    place.plans.publish()
    before = place.published()
    place.document.write_text(DOCUMENT.replace("/a", "/b"))
    assert place.plans.renew()
    worker = WorkerState(1, place.plans.state.hash, Phase.SERVES, 0.0)
    place.plans.report([worker])
    assert place.published() == before
    if boots:
        place.plans.confirm()
    else:
        place.plans.revert("a new worker died")
    after = place.published()
    assert after.tried > before.tried
    assert after.workers == (worker,)
    assert (after.hash != before.hash, after.error) == (boots, "" if boots else "a new worker died")


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


def test_a_file_rewritten_with_the_same_text_changes_nothing(place):
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
    assert "a bug in Modelway: ZeroDivisionError" in plans.state.error
    assert "ZeroDivisionError" in caplog.text


def test_a_folder_that_cannot_be_written_does_not_end_the_gateway(place, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    plans = Plans(place.make(), place.make, tmp_path / "file" / "run", boot)
    plans.publish()
    assert plans.renew()
    assert "the state of the served config cannot be published" in caplog.text
