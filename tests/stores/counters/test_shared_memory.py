"""The folder and the database that the workers of one machine share."""

from __future__ import annotations

import logging
import os
import shutil
from pathlib import Path

import lmdb
import pytest

from engine.stores.counters.memory import MemoryCounters
from engine.stores.counters.shared_memory import SharedMemory, attach, detach
from engine.values.counters import CountersAway
from engine.values.runtime_dir import runtime_directory
from tests.support.clock import MicrosecondClock
from tests.support.counters import Limit, left, take


def rate(key="rate:a", amount=3, cost=1):
    return [Limit(key, amount, 60.0, cost)]


@pytest.fixture
def clock():
    return MicrosecondClock()


@pytest.fixture
def store(path, clock):
    made = MemoryCounters(path, clock=clock)
    yield made
    made.close()


def test_workers_of_one_deployment_meet_whoever_starts_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    here = runtime_directory(Path("gateway.yaml"))
    assert here == runtime_directory(tmp_path / "gateway.yaml")
    assert here != runtime_directory(tmp_path / "other.yaml")
    assert f"-{os.getuid()}-" in here.name


def test_the_folder_and_what_is_in_it_is_closed_to_others(path, store):
    take(store, rate())
    assert path.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o077 for file in path.iterdir()} == {0}


def open_to_others(path: Path) -> None:
    path.mkdir()
    path.chmod(0o755)


def link_to_elsewhere(path: Path) -> None:
    path.with_name("elsewhere").mkdir(mode=0o700)
    path.symlink_to("elsewhere")


@pytest.mark.parametrize("made", [open_to_others, link_to_elsewhere, Path.touch])
def test_a_folder_that_is_not_ours_alone_is_refused(path, made):
    made(path)
    with pytest.raises(PermissionError, match=r"expected a folder of user \d+ .*remove it"):
        MemoryCounters(path)


def test_a_folder_of_another_user_is_refused(path, monkeypatch):
    MemoryCounters(path).close()
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(PermissionError, match="user 12345"):
        MemoryCounters(path)


def test_two_stores_of_one_process_count_together(path, store):
    other = MemoryCounters(path, clock=MicrosecondClock())
    assert take(store, rate(cost=2)).denied is None
    assert take(other, rate(cost=2)).denied == 0
    other.close()
    assert take(store, rate(cost=1)).denied is None


def test_counters_outlive_those_who_count(path, store):
    take(store, rate(cost=3))
    store.close()
    assert take(store, rate()).denied == 0


def test_a_child_opens_the_counters_anew_and_counts_with_its_parent(store):
    take(store, rate(amount=2))
    child = os.fork()
    if not child:
        passed = take(store, rate(amount=2)).denied is None
        os._exit(0 if passed else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert take(store, rate(amount=2)).denied == 0


def test_a_child_gives_no_slot_of_its_parent_back_by_ending(store):
    held = [Limit("slots:a", 1, 0)]
    take(store, held)
    child = os.fork()
    if not child:
        os._exit(0 if take(store, held).denied == 0 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert take(store, held).denied == 0


def test_slots_of_a_child_come_back_when_it_ends_though_its_parent_lives(store):
    held = [Limit("slots:a", 2, 0)]
    take(store, held)
    child = os.fork()
    if not child:
        os._exit(0 if take(store, held).denied is None else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert take(store, held).denied is None
    assert take(store, held).denied == 0


def test_a_folder_removed_is_made_again_within_a_second(path, store, monkeypatch):
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    take(store, rate(cost=3))
    shutil.rmtree(path)
    now += 1.5
    assert take(store, rate(cost=3)).denied is None
    assert path.is_dir()


def test_what_cannot_be_opened_is_away_and_says_why(path, store):
    (path / "data.mdb").write_bytes(b"not a database" * 1000)
    with pytest.raises(CountersAway, match=str(path)):
        take(store, rate())


def entries(path: Path) -> int:
    shared = attach(path, 1 << 20)
    with shared.begin() as txn:
        count = txn.stat()["entries"]
    detach(shared)
    return count


def test_what_is_over_is_swept_as_new_records_come(path, store, clock):
    for minute in range(20):
        for caller in range(100):
            take(store, rate(f"caller-{minute}-{caller}"))
        clock.advance(70)
    assert entries(path) < 250


def test_slots_nobody_holds_are_swept(path, store):
    for caller in range(1000):
        taken = take(store, [Limit(f"slots:{caller}", 5, 0)])
        store.settle(taken.receipt, [1])
    assert entries(path) < 50


def test_sweeping_takes_nothing_that_still_counts(store, clock):
    for caller in range(300):
        take(store, rate(f"caller-{caller}", 1))
        clock.advance(0.1)
    assert all(take(store, rate(f"caller-{caller}", 1)).denied == 0 for caller in range(300))


def test_full_counters_let_requests_pass_say_so_once_a_minute_and_recover(path, clock, caplog):
    store = MemoryCounters(path, clock=clock, size=1 << 18)
    take(store, rate("first", 1))
    with caplog.at_level(logging.WARNING, "modelway"):
        for caller in range(3000):
            taken = take(store, rate(f"caller-{caller}", 1))
            assert taken.denied is None
            store.settle(taken.receipt, [5])
    assert [record.getMessage().count("full") for record in caplog.records] == [1]
    assert take(store, rate("first", 1)).denied == 0
    assert take(store, rate("caller-2999", 1)).denied is None
    clock.advance(70)
    for caller in range(50):
        assert take(store, rate(f"later-{caller}", 1)).denied is None
    assert all(take(store, rate(f"later-{caller}", 1)).denied == 0 for caller in range(40, 50))
    store.close()


@pytest.mark.parametrize(("limit", "cost"), [(Limit("a", 2, 0), 1), (Limit("a", 2, 600.0), 0)])
def test_what_was_not_counted_is_not_given_back(path, clock, limit, cost):
    store = MemoryCounters(path, clock=clock, size=1 << 18)
    for caller in range(3000):
        take(store, rate(f"caller-{caller}", 1))
    uncounted = take(store, [limit])
    clock.advance(70)
    for caller in range(50):
        take(store, rate(f"later-{caller}", 1))
    assert [take(store, [limit]).denied for _ in range(3)] == [None, None, 0]
    store.settle(uncounted.receipt, [cost])
    assert take(store, [limit]).denied == 0
    store.close()


def test_a_limit_that_finds_no_room_has_none_further_on(store, monkeypatch):
    room = iter([False, False, True])  # asked for again after more records were swept
    monkeypatch.setattr(SharedMemory, "has_room", lambda *_: next(room))
    slot = Limit("slots:a", 5, 0)
    store.settle(take(store, [slot, slot]).receipt, [1, 1])
    monkeypatch.undo()
    assert take(store, [Limit("slots:a", 5, 0, 0)]).remaining[0] == 5


def test_a_denied_request_leaves_every_record_as_it_was(store):
    take(store, [Limit("new", 1, 60.0), Limit("slots:new", 2, 0)])
    asked = [Limit("fresh", 9, 60.0), Limit("slots:new", 2, 0), Limit("new", 1, 60.0)]
    denied = take(store, asked)
    assert (denied.denied, denied.remaining) == (2, [9, 1, 0])
    looked = [Limit(one.key, one.amount, one.window, 0) for one in asked[:2]]
    assert take(store, looked).remaining == [9, 1]


def test_a_store_whose_database_another_opened_anew_goes_on_with_that(path, store):
    other = MemoryCounters(path, clock=MicrosecondClock())
    take(store, rate(cost=1))
    take(other, rate(cost=1))
    shutil.rmtree(path)
    third = MemoryCounters(path, clock=MicrosecondClock())
    assert take(third, rate(cost=2)).denied is None
    assert take(other, rate(cost=2)).denied == 0
    store.close()
    assert take(third, rate(cost=1)).denied is None
    assert take(other, rate(cost=1)).denied == 0
    third.close()
    other.close()


def test_closing_what_another_opened_anew_closes_nothing_of_it(path, store):
    take(store, rate(cost=1))
    shutil.rmtree(path)
    other = MemoryCounters(path, clock=MicrosecondClock())
    take(other, rate(cost=3))
    store.close()
    assert take(other, rate(cost=1)).denied == 0
    assert entries(path) == 2  # the limit, and the number of the next worker
    other.close()


def test_a_late_correction_changes_nothing_in_another_database(path, store):
    held = [Limit("slots:a", 5, 0)]
    late = take(store, held)
    shutil.rmtree(path)
    other = MemoryCounters(path, clock=MicrosecondClock())
    take(other, held)
    store.settle(late.receipt, [0])
    assert left(other, held) == [4]
    other.close()


def test_a_correction_that_fails_is_logged_and_not_raised(store, monkeypatch, caplog):
    def begin(_: SharedMemory) -> None:
        raise lmdb.Error("no transaction")

    receipt = take(store, rate()).receipt
    monkeypatch.setattr(SharedMemory, "begin", begin)
    with caplog.at_level(logging.WARNING, "modelway"):
        store.settle(receipt, [0])
    assert "the costs of a request are not corrected: no transaction" in caplog.text


def test_memory_is_had_before_it_is_written_to(path, store, monkeypatch):
    had, reserve = [0], os.posix_fallocate

    def reserving(file: int, at: int, size: int) -> None:
        assert at == had[-1]
        reserve(file, at, size)
        had.append(at + size)

    monkeypatch.setattr(os, "posix_fallocate", reserving)
    for part in range(20):
        for caller in range(1000):
            take(store, rate(f"caller-{part}-{caller}"))
        memory = attach(path, 1 << 28)
        written = memory.written()
        detach(memory)
        assert written < had[-1] < written + (4 << 20)
    assert written > 2 << 20


def test_memory_that_cannot_be_had_is_not_written_to(path, monkeypatch):
    def full(*_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="no room"):
        SharedMemory(path, 1 << 20)
    store = MemoryCounters(path)
    with pytest.raises(CountersAway, match="no room"):
        take(store, rate())
