"""The state that the workers of a machine share. Two open states are two workers."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from engine.stores.machine_state import SharedState
from engine.stores.mapped_numbers import PLACES, WIDTH


@pytest.fixture
def workers(tmp_path) -> Iterator[tuple[SharedState, SharedState]]:
    with ExitStack() as stack:
        first = stack.enter_context(closing(SharedState(tmp_path / "machine")))
        second = stack.enter_context(closing(SharedState(tmp_path / "machine")))
        yield first, second


def test_a_counter_is_the_sum_of_its_workers(workers):
    first, second = workers
    first.counter("in_flight/a").add(2)
    second.counter("in_flight/a").add(3)
    assert first.counter("in_flight/a").total() == second.counter("in_flight/a").total() == 5
    assert first.counter("in_flight/a").local == 2


def test_names_have_numbers_of_their_own(workers):
    first, second = workers
    names = ["a", "b", "a/b", "line\nbreak", "ü", "back\\slash"]
    for amount, name in enumerate(names, 1):
        (first if amount % 2 else second).counter(name).add(amount)
    assert [second.counter(name).total() for name in names] == [1, 2, 3, 4, 5, 6]


def test_a_worker_that_starts_later_is_counted(workers, tmp_path):
    first, _ = workers
    first.counter("a").add(1)
    assert first.counter("a").total() == 1
    with closing(SharedState(tmp_path / "machine")) as third:
        third.counter("a").add(5)
        assert first.counter("a").total() == 6


def test_a_worker_that_ends_is_no_longer_counted(workers, tmp_path):
    first, _ = workers
    with closing(SharedState(tmp_path / "machine")) as third:
        third.counter("a").add(5)
        assert first.counter("a").total() == 5
    assert first.counter("a").total() == 0


def test_what_a_killed_worker_counted_is_released(workers, tmp_path):
    first, _ = workers
    _count_and_be_killed(tmp_path / "machine")
    assert first.counter("a").total() == 7
    first.release_dead_slots()
    assert first.counter("a").total() == 0


def test_a_new_worker_takes_the_slot_of_a_killed_one(workers, tmp_path):
    first, _ = workers
    _count_and_be_killed(tmp_path / "machine")
    before = sorted(path.name for path in (tmp_path / "machine").iterdir())
    with closing(SharedState(tmp_path / "machine")) as third:
        assert (third.counter("a").local, first.counter("a").total()) == (0, 0)
    assert sorted(path.name for path in (tmp_path / "machine").iterdir()) == before


def test_living_workers_keep_their_counts(workers):
    first, second = workers
    second.counter("a").add(4)
    first.release_dead_slots()
    second.release_dead_slots()
    assert first.counter("a").total() == 4


def test_there_are_more_names_than_one_file_holds(workers):
    first, second = workers
    for index in range(PLACES + 2):
        first.counter(f"name {index}").add(index)
    second.counter(f"name {PLACES + 1}").add(1)
    assert first.counter(f"name {PLACES + 1}").total() == PLACES + 2
    assert second.counter("name 1").total() == 1


def test_a_number_is_the_one_written_last(workers):
    first, second = workers
    assert second.number("average").value == 0.0
    first.number("average").value = 0.25
    second.number("average").value = 0.5
    assert first.number("average").value == 0.5


def test_numbers_outlive_the_worker_that_wrote_them(workers, tmp_path):
    first, _ = workers
    with closing(SharedState(tmp_path / "machine")) as third:
        third.number("average").value = 2.0
    assert first.number("average").value == 2.0


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
        workers[0].number("a").value = 1.0


def test_without_room_a_worker_counts_alone_and_says_so(workers, monkeypatch, caplog):
    first, second = workers
    second.counter("a").add(2)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    held = [first.counter(f"name {index}") for index in range(PLACES)]
    with caplog.at_level(logging.WARNING):
        first.counter("the last").add(1)
    assert first.counter("the last").total() == 1
    assert "No space left on device" in caplog.text
    assert first.counter("a").total() == 2
    assert len(held) == PLACES


def test_names_that_no_worker_uses_give_their_room_to_others(workers, tmp_path):
    """As those of addresses that come and go."""
    first, second = workers
    held = second.counter("in_flight/held"), first.number("health/held")
    held[0].add(5)
    held[1].value = 0.5
    for index in range(6 * PLACES):
        worker = workers[index % 2]
        counter = worker.counter(f"in_flight/{index}", WIDTH - 1)
        number = worker.number(f"health/{index}", WIDTH - 1)
        assert (counter.total(), number.value) == (0, 0.0), "it begins at 0"
        counter.add(index + 1)
        number.value = index + 1.0
    for worker in workers:
        assert worker.counter("in_flight/held").total() == 5
        assert worker.number("health/held").value == 0.5
    files = [path.name for path in (tmp_path / "machine").glob("numbers.*")]
    assert len(files) <= 2, files


def test_names_that_another_worker_uses_keep_their_room(workers):
    first, second = workers
    held = [second.counter(f"held {index}") for index in range(PLACES)]
    for counter in held:
        counter.add(1)
    for index in range(5 * PLACES):
        first.counter(f"in_flight/{index}").add(1)
    assert {first.counter(f"held {index}").total() for index in range(PLACES)} == {1}


def test_a_worker_finds_names_that_moved_while_it_did_not_look(workers):
    first, second = workers
    second.number("at first").value = 1.0
    for index in range(4 * PLACES):
        first.number(f"a {index}").value = index
    last = [first.number(f"b {index}") for index in range(PLACES)]
    for index, number in enumerate(last):
        number.value = index
    assert [second.number(f"b {index}").value for index in range(PLACES)] == [*range(PLACES)]


def test_the_room_of_a_killed_worker_is_given_to_others(workers, tmp_path):
    first, _ = workers
    _count_and_be_killed(tmp_path / "machine", PLACES - 1)
    first.release_dead_slots()
    for index in range(4 * PLACES):
        first.counter(f"b {index}").add(1)
    assert len(list((tmp_path / "machine").glob("cells.0.*"))) == 1


def test_a_name_that_cannot_be_written_does_not_move_those_after_it(workers, monkeypatch, caplog):
    first, second = workers
    with monkeypatch.context() as full_disk:
        full_disk.setattr(os, "pwrite", lambda fd, line, at: 0)
        first.counter("alone").add(1)
    second.counter("a").add(2)
    first.counter("b").add(3)
    assert [state.counter(name).total() for state in workers for name in ("a", "b")] == [2, 3, 2, 3]
    assert "No space left on device" in caplog.text


def test_without_descriptors_a_total_is_that_of_the_workers_it_knows(
    workers, tmp_path, monkeypatch
):
    first, _ = workers
    for worker in workers:
        worker.counter("a").add(1)
    counter = first.counter("a")
    assert counter.total() == 2
    with closing(SharedState(tmp_path / "machine")) as third:
        third.counter("a").add(5)
        with monkeypatch.context() as exhausted:
            exhausted.setattr(os, "open", _no_descriptors)
            assert counter.total() == 2
        first.release_dead_slots()
        assert counter.total() == 7


def test_without_descriptors_each_worker_does_a_task(workers, monkeypatch):
    monkeypatch.setattr(os, "open", _no_descriptors)
    assert [worker.leads("health") for worker in workers] == [True, True]


def _no_descriptors(*_: object) -> int:
    raise OSError(24, "Too many open files")


def test_the_folder_is_closed_to_others(workers, tmp_path):
    workers[0].leads("health")
    workers[0].number("average").value = 1.0
    folder = tmp_path / "machine"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o077 for path in folder.iterdir()} == {0}


def _count_and_be_killed(folder: Path, others: int = 0) -> None:
    """A worker that counts 7 for "a", uses so many other names, and is killed."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        state = SharedState(folder)
        state.counter("a").add(7)
        held = [state.counter(f"a {index}") for index in range(others)]
        os.write(write_end, b".")
        signal.pause()
        held.clear()
    assert os.read(read_end, 1) == b"."
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(read_end)
    os.close(write_end)
