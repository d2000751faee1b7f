"""The slots of workers, and the places that they mark. Two open slots are two workers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from engine.machine.mapped_numbers import PLACES, MappedNumbers
from engine.machine.slots import Chunk, Record, WorkerSlots


@pytest.fixture
def workers(tmp_path) -> Iterator[tuple[WorkerSlots, WorkerSlots]]:
    errors: list[OSError] = []
    with ExitStack() as stack:
        changes = stack.enter_context(closing(MappedNumbers(tmp_path / "changes", "q")))
        one, other = (WorkerSlots(tmp_path, changes.view, errors.append) for _ in range(2))
        stack.callback(other.close)
        stack.callback(one.close)
        yield one, other
    assert not errors


def _record(worker: WorkerSlots, place: int) -> Record:
    chunk, at = divmod(place, PLACES)
    own = worker.own(chunk)
    return Record(Chunk(worker, own, worker.views(chunk), own.view), at)


def test_a_place_is_marked_as_long_as_a_worker_has_it(workers):
    one, other = workers
    held = _record(other, 7)
    assert not one.is_unmarked(7)
    assert one.unmarked(1) == [at for at in range(PLACES) if at != 7]
    again = _record(other, 7)
    del held
    assert not one.is_unmarked(7)
    del again
    assert one.is_unmarked(7)


def test_a_place_in_a_chunk_that_only_another_worker_has_is_seen(workers):
    one, other = workers
    held = _record(other, PLACES + 3)
    assert not one.is_unmarked(PLACES + 3)
    assert PLACES + 3 not in one.unmarked(2)
    held.add(0, 1)


def test_a_reset_place_is_0_in_all_slots(workers):
    one, other = workers
    for worker in workers:
        _record(worker, 3).add(0, 5)
    records = _record(one, 3), _record(other, 3)
    assert [record.total(0) for record in records] == [10, 10]
    one.reset(3)
    assert [record.total(0) for record in records] == [0, 0]


def test_what_a_forked_child_forgets_stays_marked(workers):
    one, other = workers
    held = _record(other, 9)
    pid = os.fork()
    if pid == 0:
        del held
        os._exit(0)
    os.waitpid(pid, 0)
    assert not one.is_unmarked(9)
    held.add(0, 1)


def test_what_is_held_after_the_end_marks_nothing(workers, tmp_path):
    one, _ = workers
    third = WorkerSlots(tmp_path, one.changes, lambda error: None)
    held = _record(third, 5)
    third.close()
    del held
    assert one.is_unmarked(5)
