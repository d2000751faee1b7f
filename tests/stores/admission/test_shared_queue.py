"""Places and queues that several processes share."""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager

import pytest

from engine.stores.admission.shared_queue import QueueFolder
from engine.values.admission import NORMAL, Figures, Served
from tests.support.counters import folder, workers
from tests.support.waiting import Deadline


@pytest.fixture
def path():
    with folder() as path:
        yield path


@pytest.fixture
def queues(path):
    queues = QueueFolder(path)
    yield queues
    queues.close()


@pytest.fixture
def queue(queues):
    return queues.queue("vendor")


def test_places_are_counted_by_name(queues, queue):
    other = queues.queue("other")
    assert queue.enter(NORMAL, 1)
    assert not queue.enter(NORMAL, 1)
    assert other.enter(NORMAL, 1)
    queue.release()
    assert queue.enter(NORMAL, 1)


def test_a_ticket_is_served_when_a_place_is_free(queue):
    queue.enter(NORMAL, 1)
    ticket = queue.join(NORMAL, 1, time.monotonic() + 60)
    assert queue.serve([ticket], 1) == Served([], [])
    assert queue.figures() == Figures(1, 1)
    queue.release()
    assert queue.serve([ticket], 1) == Served([ticket], [])
    assert queue.figures() == Figures(1, 0)


def test_a_ticket_that_ended_is_reported(queue):
    queue.enter(NORMAL, 1)
    late = queue.join(NORMAL, 1, time.monotonic())
    assert queue.serve([late], 1) == Served([], [late])


def test_a_ticket_that_is_left_is_free(queue):
    queue.enter(NORMAL, 1)
    queue.leave(queue.join(NORMAL, 1, time.monotonic() + 60))
    assert queue.figures() == Figures(1, 0)


def test_without_shared_memory_requests_pass(path, queues, queue, caplog):
    assert queue.enter(NORMAL, 1)
    queues.close()
    shutil.rmtree(path)
    path.write_text("no folder")
    assert queue.enter(NORMAL, 1)
    assert "requests pass uncounted" in caplog.text


@contextmanager
def without_memory(queues):
    """The shared memory fails."""
    memory = queues.memory

    def fail():
        raise OSError("away")

    queues.memory = fail
    try:
        yield
    finally:
        queues.memory = memory


def test_places_that_were_taken_without_memory_are_counted_when_it_is_back(queues, queue):
    queue.enter(NORMAL, 3)
    with without_memory(queues):
        assert queue.enter(NORMAL, 1)
    assert queue.figures() == Figures(2, 0)


def test_a_release_of_a_place_taken_without_memory_frees_no_other(queues, queue):
    assert queue.enter(NORMAL, 1)
    with without_memory(queues):
        assert queue.enter(NORMAL, 1)
    queue.release()
    assert not queue.enter(NORMAL, 1)


def test_a_place_that_was_given_back_without_memory_is_free_when_it_is_back(queues, queue):
    queue.enter(NORMAL, 1)
    with without_memory(queues):
        queue.release()
    assert queue.enter(NORMAL, 1)


def test_tickets_that_were_served_without_memory_hold_places(queues, queue):
    queue.enter(NORMAL, 1)
    ticket = queue.join(NORMAL, 1, time.monotonic() + 60)
    with without_memory(queues):
        assert queue.serve([ticket], 1) == Served([ticket], ())
    queue.leave(ticket)
    assert queue.figures() == Figures(2, 0)


def test_two_users_of_a_bound_in_one_worker_count_their_places_apart(queues, queue):
    """As while a config is reloaded."""
    other = queues.queue("vendor")
    with without_memory(queues):
        queue.enter(NORMAL, 2)
        other.enter(NORMAL, 2)
    queue.release()
    assert other.figures() == Figures(1, 0)


def test_a_new_database_counts_the_places_that_are_held(path, queues, queue):
    assert queue.enter(NORMAL, 1)
    queues.close()
    shutil.rmtree(path)
    assert not queue.enter(NORMAL, 1)
    queue.release()
    assert queue.enter(NORMAL, 1)


def test_a_folder_that_others_may_write_is_refused(path):
    path.mkdir(mode=0o777)
    path.chmod(0o777)
    with pytest.raises(PermissionError):
        QueueFolder(path)


def test_four_workers_never_hold_more_places_than_there_are(path):
    """Each of 200 callers holds a slot for a moment; what each worker saw is put together."""
    with workers(4, path, "crowd", "8", "200", "50", module="admitting") as four:
        spans = [tuple(span) for worker in four for span in worker.says()]
    assert len(spans) == 200
    changes = sorted([(start, 1) for start, _ in spans] + [(end, -1) for _, end in spans])
    level = highest = 0
    for _, change in changes:
        level += change
        highest = max(highest, level)
    assert highest == 8


def test_what_a_killed_worker_held_and_waited_for_is_free(path, queue):
    with workers(1, path, "hold", "3", "2", module="admitting") as (killed,):
        assert killed.says() == [3, 2]
        assert queue.figures() == Figures(3, 2)
        assert not queue.enter(NORMAL, 3)
        killed.kill()
        assert queue.figures() == Figures(0, 0)
        assert queue.enter(NORMAL, 3)


def test_a_place_that_another_worker_frees_goes_to_the_first_that_waits(path, queue):
    assert queue.enter(NORMAL, 1)
    with workers(1, path, "wait", "1", module="admitting") as (waiting,):
        end = Deadline()
        while not queue.figures().waiting:
            assert not end.passed()
            time.sleep(0.01)
        queue.release()
        assert waiting.says() == "admitted"
        assert not queue.enter(NORMAL, 1)
