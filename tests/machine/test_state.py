"""The state that the workers of a machine share. Two open states are two workers."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from engine.machine.mapped_numbers import PLACES
from engine.machine.state import SharedState
from engine.values.machine_state import WIDTH


@pytest.fixture
def workers(tmp_path) -> Iterator[tuple[SharedState, SharedState]]:
    with ExitStack() as stack:
        first = stack.enter_context(closing(SharedState(tmp_path / "machine")))
        second = stack.enter_context(closing(SharedState(tmp_path / "machine")))
        yield first, second


def test_a_counter_is_the_sum_of_its_workers(workers):
    first, second = workers
    first.record("in_flight/a").add(0, 2)
    second.record("in_flight/a").add(0, 3)
    assert first.record("in_flight/a").total(0) == second.record("in_flight/a").total(0) == 5


def test_names_have_numbers_of_their_own(workers):
    first, second = workers
    names = ["a", "b", "a/b", "line\nbreak", "ü", "back\\slash"]
    for amount, name in enumerate(names, 1):
        (first if amount % 2 else second).record(name).add(0, amount)
    assert [second.record(name).total(0) for name in names] == [1, 2, 3, 4, 5, 6]


def test_a_worker_that_starts_later_is_counted(workers, tmp_path):
    first, _ = workers
    first.record("a").add(0, 1)
    assert first.record("a").total(0) == 1
    with closing(SharedState(tmp_path / "machine")) as third:
        third.record("a").add(0, 5)
        assert first.record("a").total(0) == 6


def test_a_worker_that_ends_is_no_longer_counted(workers, tmp_path):
    first, _ = workers
    with closing(SharedState(tmp_path / "machine")) as third:
        third.record("a").add(0, 5)
        assert first.record("a").total(0) == 5
    assert first.record("a").total(0) == 0


def test_what_a_killed_worker_counted_is_released(workers, tmp_path):
    first, _ = workers
    _count_and_be_killed(tmp_path / "machine")
    assert first.record("a").total(0) == 7
    first.release_dead_slots()
    assert first.record("a").total(0) == 0


def test_a_new_worker_takes_the_slot_of_a_killed_one(workers, tmp_path):
    first, _ = workers
    _count_and_be_killed(tmp_path / "machine")
    before = sorted(path.name for path in (tmp_path / "machine").iterdir())
    with closing(SharedState(tmp_path / "machine")) as third:
        assert third.record("a").total(0) == first.record("a").total(0) == 0
    assert sorted(path.name for path in (tmp_path / "machine").iterdir()) == before


def test_living_workers_keep_their_counts(workers):
    first, second = workers
    second.record("a").add(0, 4)
    first.release_dead_slots()
    second.release_dead_slots()
    assert first.record("a").total(0) == 4


def test_there_are_more_names_than_one_file_holds(workers):
    first, second = workers
    for index in range(PLACES + 2):
        first.record(f"name {index}").add(0, index)
    second.record(f"name {PLACES + 1}").add(0, 1)
    assert first.record(f"name {PLACES + 1}").total(0) == PLACES + 2
    assert second.record("name 1").total(0) == 1


def test_a_number_is_the_one_written_last(workers):
    first, second = workers
    assert second.record("average").number(0) == 0.0
    first.record("average").set_number(0, 0.25)
    second.record("average").set_number(0, 0.5)
    assert first.record("average").number(0) == 0.5


def test_numbers_outlive_the_worker_that_wrote_them(workers, tmp_path):
    first, _ = workers
    with closing(SharedState(tmp_path / "machine")) as third:
        third.record("average").set_number(0, 2.0)
    assert first.record("average").number(0) == 2.0


def test_one_worker_does_a_task(workers):
    first, second = workers
    assert [first.leads("health"), second.leads("health"), first.leads("health")] == [
        True,
        False,
        True,
    ]
    assert second.leads("addresses")


def test_another_worker_does_the_task_of_one_that_ended(workers, tmp_path):
    first, _ = workers
    with closing(SharedState(tmp_path / "machine")) as third:
        assert third.leads("health")
        assert not first.leads("health")
    assert first.leads("health")


def test_one_worker_at_a_time_decides(workers):
    first, second = workers
    decided = []

    def decide() -> None:
        with second.deciding():
            decided.append("second")

    other = threading.Thread(target=decide)
    with first.deciding():
        other.start()
        other.join(0.05)
        decided.append("first")
    other.join()
    assert decided == ["first", "second"]


def test_without_descriptors_a_worker_decides_all_the_same(workers, monkeypatch):
    monkeypatch.setattr(os, "open", _no_descriptors)
    with workers[0].deciding():
        workers[0].record("a").set_number(0, 1.0)


def test_without_room_a_worker_counts_alone_and_says_so(workers, monkeypatch, caplog):
    first, second = workers
    second.record("a").add(0, 2)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    held = [first.record(f"name {index}") for index in range(PLACES)]
    with caplog.at_level(logging.WARNING):
        first.record("the last").add(0, 1)
    assert first.record("the last").total(0) == 1
    assert "No space left on device" in caplog.text
    assert first.record("a").total(0) == 2
    assert len(held) == PLACES


def test_names_that_no_worker_uses_give_their_room_to_others(workers, tmp_path):
    """As those of addresses that come and go."""
    first, second = workers
    held = second.record("in_flight/held"), first.record("health/held")
    held[0].add(0, 5)
    held[1].set_number(0, 0.5)
    for index in range(6 * PLACES):
        worker = workers[index % 2]
        counters, numbers = worker.record(f"in_flight/{index}"), worker.record(f"health/{index}")
        found = [(counters.total(column), numbers.number(column)) for column in range(WIDTH)]
        assert found == [(0, 0.0)] * WIDTH, "it begins at 0"
        counters.add(WIDTH - 1, index + 1)
        numbers.set_number(WIDTH - 1, index + 1.0)
    for worker in workers:
        assert worker.record("in_flight/held").total(0) == 5
        assert worker.record("health/held").number(0) == 0.5
    files = [path.name for path in (tmp_path / "machine").glob("numbers.*")]
    assert len(files) <= 2, files


def test_names_that_another_worker_uses_keep_their_room(workers):
    first, second = workers
    held = [second.record(f"held {index}") for index in range(PLACES)]
    for record in held:
        record.add(0, 1)
    for index in range(5 * PLACES):
        first.record(f"in_flight/{index}").add(0, 1)
    assert {first.record(f"held {index}").total(0) for index in range(PLACES)} == {1}


def test_a_worker_finds_names_that_moved_while_it_did_not_look(workers):
    first, second = workers
    second.record("at first").set_number(0, 1.0)
    for index in range(4 * PLACES):
        first.record(f"a {index}").set_number(0, index)
    last = [first.record(f"b {index}") for index in range(PLACES)]
    for index, record in enumerate(last):
        record.set_number(0, index)
    assert [second.record(f"b {index}").number(0) for index in range(PLACES)] == [*range(PLACES)]


def test_the_room_of_a_killed_worker_is_given_to_others(workers, tmp_path):
    first, _ = workers
    _count_and_be_killed(tmp_path / "machine", PLACES - 1)
    first.release_dead_slots()
    for index in range(4 * PLACES):
        first.record(f"b {index}").add(0, 1)
    assert len(list((tmp_path / "machine").glob("cells.0.*"))) == 1


def test_a_name_that_cannot_be_written_does_not_move_those_after_it(workers, monkeypatch, caplog):
    first, second = workers
    with monkeypatch.context() as full_disk:
        full_disk.setattr(os, "pwrite", lambda fd, line, at: 0)
        first.record("alone").add(0, 1)
    second.record("a").add(0, 2)
    first.record("b").add(0, 3)
    assert [state.record(name).total(0) for state in workers for name in ("a", "b")] == [2, 3, 2, 3]
    assert "No space left on device" in caplog.text


def test_without_descriptors_a_total_is_that_of_the_workers_it_knows(
    workers, tmp_path, monkeypatch
):
    first, _ = workers
    for worker in workers:
        worker.record("a").add(0, 1)
    record = first.record("a")
    assert record.total(0) == 2
    with closing(SharedState(tmp_path / "machine")) as third:
        third.record("a").add(0, 5)
        with monkeypatch.context() as exhausted:
            exhausted.setattr(os, "open", _no_descriptors)
            assert record.total(0) == 2
        first.release_dead_slots()
        assert record.total(0) == 7


def test_without_descriptors_each_worker_does_a_task(workers, monkeypatch):
    monkeypatch.setattr(os, "open", _no_descriptors)
    assert [worker.leads("health") for worker in workers] == [True, True]


def _no_descriptors(*_: object) -> int:
    raise OSError(24, "Too many open files")


def test_a_removed_folder_is_logged_once_and_counts_go_on(workers, tmp_path, caplog):
    records = [worker.record("a") for worker in workers]
    assert [record.total(0) for record in records] == [0, 0]  # each has seen the other
    shutil.rmtree(tmp_path / "machine")
    for worker in workers:
        worker.release_dead_slots()
        worker.release_dead_slots()
    records[0].add(0, 2)
    assert records[1].total(0) == 2
    assert caplog.text.count("no room for shared counters") == 2


def test_the_folder_is_closed_to_others(workers, tmp_path):
    workers[0].leads("health")
    workers[0].record("average").set_number(0, 1.0)
    folder = tmp_path / "machine"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o077 for path in folder.iterdir()} == {0}


def _count_and_be_killed(folder: Path, others: int = 0) -> None:
    """A worker that counts 7 for "a", uses so many other names, and is killed."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        state = SharedState(folder)
        state.record("a").add(0, 7)
        held = [state.record(f"a {index}") for index in range(others)]
        os.write(write_end, b".")
        signal.pause()
        held.clear()
    assert os.read(read_end, 1) == b"."
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(read_end)
    os.close(write_end)
